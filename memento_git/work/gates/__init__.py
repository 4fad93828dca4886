"""Gates and approvals: what was said, by whom, whether it counts and still holds, and what a release asks."""
