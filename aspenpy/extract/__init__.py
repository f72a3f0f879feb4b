"""Application models from programs, in five stages; each knows the ones before it by what they hand on alone.

    source        `front_end`, `tree*`: libclang reads a file of C or C++; nothing else in this room knows libclang
                  `fortran*`: fparser reads a file of Fortran; nothing else knows fparser
    records       `records`: functions, statements and expressions of any language; `effects` says what they may change,
                  `linking` makes one program of several `units`
    walk          `walk` with its parts (`loops`, `branches`, `calls`, `evaluate`, `memory`, `places`): each function as
                  a tree of loops, accesses and operations (`costs`), of which `registers` drops what a compiler spares
    closed forms  `blocks`, `count`, `triangles`, `patterns`: the amounts and the order of touches of a nest of loops
    text          `text`, `naming`, `model_text`: kernels, parameters and data in the Aspen language

`extraction` goes through them, function by function as the `call_graph` has them. Beside them, `model_runs` with
`execution`, `counted_units`, `line_counts`, `hole_values` and `fit` runs the program to fill in what its source does
not say; `replay` and `reconcile` hold the model against the run.
"""
