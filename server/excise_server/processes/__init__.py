"""Every process, fork and kill: what starts others, holds them to limits, and outlives them.

lifetime    a process ends with its parent, in time, at a signal or on request
forks       a `map` over all cores
outlive     a command that its input may crash: a fork does the work
parsers     between a text and its parser there; texts that ended a process
remote      a measure in another interpreter, with `remote_child` at its other end
worker      a worker process, which its input may crash, and the pipes to it
runs        the user's command in a folder, with all that it starts
sandbox     the tests of an evaluation, closed off by bubblewrap
"""
