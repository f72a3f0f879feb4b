"""Networks: topologies and their figures, the time of messages and of collectives, where ranks are placed.

Laws over the expression graph and no more: every size may be a number or an expression, and a million nodes cost what
eight do.
"""
