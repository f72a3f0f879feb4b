"""Output of a compiler: the instructions of a program with the lines that they come from, their loops, and the cycles
that a scheduling model of a processor gives them."""
