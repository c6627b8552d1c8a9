/** Of the names that a workspace can give to budgets and alerts. */
export const budgetIdPattern = '^[a-z0-9][a-z0-9_-]{0,63}$';
