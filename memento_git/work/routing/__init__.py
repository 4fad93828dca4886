"""Who should do a task: executors, what came of their work, budgets, and which of several tries is the best."""
