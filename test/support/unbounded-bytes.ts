import { MessageBudget } from '../../src/core/message-budget.ts'

/** The budget of a message that nothing bounds. */
export const unboundedBytes = (): MessageBudget =>
  new MessageBudget(Number.POSITIVE_INFINITY, { leftBytes: Number.POSITIVE_INFINITY })
