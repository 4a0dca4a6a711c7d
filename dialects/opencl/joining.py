"""The decision to run several launches as one, as attributes of theirs."""

JOIN_ATTRIBUTE = "opencl.join"
"""On a launch: an integer; those of a host program with the same one become one."""

JOIN_REASON_ATTRIBUTE = "opencl.join_reason"
"""On a launch: why it became part of others, or did not, in words and figures."""
