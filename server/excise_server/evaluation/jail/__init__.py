"""The processes of the sandbox, and their guards.

    template    in its own user and mount namespace; its root holds Python's files, read-only
      watcher   first process of the PID namespace of one run; ends it in time, tells the verdict
        stranger    the hypothesis and its tests, behind every guard

These modules are run by an isolated interpreter (`processes`) and import nothing of ours except
each other and `foundation.linux`. Every guard works without the others, and if one is not
available, the run is refused and the guard named.
"""
