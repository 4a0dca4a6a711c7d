"""What programs cost: tables, traces and rooflines of measured calls.

`watcher` is told of all that happens and hands it to who is interested: profiles, and
the log of the setting `debug`. `profile` is what a user has of it.
"""
