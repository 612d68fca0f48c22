"""Every process, fork and kill: what starts others, holds them to limits, and outlives them.

    linux       namespaces, mounts and control groups, for which Python has no function
    lifetime    a process ends with its parent, in time, at a signal or on request
    forks       a `map` over all cores
    outlive     a command that its input may crash: a fork does the work
    parsers     between a text and its parser there; texts that ended a process
    remote      a measure in another interpreter, with `remote_child` at its other end
    worker      a worker process, which its input may crash, and the pipes to it
    runs        the user's command, or what candidates brought, in folders of candidates
    supervisor  holds together one run of it, with all that it starts
    sandbox     runs the tests of an evaluation: `jail` is its processes and guards

What runs beside strangers (`linux`, `supervisor`, `jail`) imports nothing else of ours.
"""
