"""Commands that destroy work: found in an argv, in a shell's text and in prose, and what policy says to them. Pure."""
