"""The commands: each stands in the module of its name, and is imported when it is run."""

COMMANDS = {
    "eval": "Predict the runtime of an application on a machine, by kernel and resource",
    "expr": "The runtime as a formula in the parameters that are left free",
    "explain": "Explain a prediction step by step, from the line in the model to the seconds",
    "profile": "Show where the time goes, by kernel and by call",
    "compare": "Compare machines for one application; find where the fastest changes",
    "place": "Assign kernels to CPUs and GPUs of one machine; find the fastest assignment, data transfers included",
    "sensitivity": "Rank parameters by their effect on runtime or another metric",
    "optimise": "Minimise or maximise a metric under constraints",
    "sweep": "Evaluate metrics at many points: grids and samples of parameters, machines and sockets",
    "count": "Count flops, bytes and messages by kernel; solve for the size that needs a given amount",
    "memory": "Show the data that kernels touch, and whether they fit into memory",
    "traffic": "Predict traffic between caches and memory, and hit rates by access",
    "parallelism": "Show how many instances of each block could run at once, by call path",
    "trace": "List what runs, in order",
    "extract": "Write the application model of a program in C or C++",
    "mpi": "Generate an MPI program in C that sends the application's messages",
    "roofline": "Show the roofline of a machine, and applications below it",
    "rdd": "Compute reuse-distance histograms from an address trace",
    "incore": "Measure a compiled loop with OSACA: cycles by port and by dependence, as a requirement",
    "energy": "Predict the energy a run consumes, by kernel and component; check budgets and power caps",
    "fit": "Calibrate parameters to measurements",
    "empirical": "Learn runtime or energy from measurements: ACEE, COS, Leading Loads, Power-Aware Speedup, bandwidth",
    "measure": "Repeat a command until its mean runtime is known; read what other tools have measured",
    "repl": "Ask what-if questions line by line, compared with a baseline",
    "network": "Show a machine's network: topology, messages, collectives",
    "scale": "Predict strong and weak scaling: efficiency, communication, the optimal number of ranks",
    "check": "Check models for errors and likely mistakes",
    "fmt": "Format model files",
    "list": "List the applications and machines of the library",
    "show": "Show what is in a model: a machine's tree and peaks, an application's calls and data",
    "machine": "Start a machine model from a template; find implausible numbers in one",
    "completion": "Write what lets bash, zsh or fish complete commands, options, models and parameters",
}
"""What each command answers."""

ALIASES = {"optimize": "optimise", "format": "fmt"}
