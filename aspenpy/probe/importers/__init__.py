"""What other tools say of a host: `lscpu -J`, hwloc's XML, `likwid-topology`, STREAM."""
