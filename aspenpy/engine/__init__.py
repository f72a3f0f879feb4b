"""The engine: formulas lowered to straight-line programs, and what runs them."""
