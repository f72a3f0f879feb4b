"""What a compiler makes of a program: its instructions with the lines that they come from, their loops, and the cycles
that a scheduling model of a processor gives them."""
