"""Whether a task is proven: what evidence may be trusted for, what is asked, what a second run says, what is stale."""
