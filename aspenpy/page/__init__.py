"""A page to play with: an application on some machines as one HTML file, whose formulas run in the browser."""
