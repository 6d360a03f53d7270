/** The isolated processes, where ISOLATION asks for them. */
import type { Logger } from '../domain/ports/logger-port.ts'
import type { IsolatedSandbox } from '../isolation/process-sandbox.ts'
import type { Settings } from '../settings/settings.ts'

/** Undefined where expressions and schemas run in this process: nothing is loaded then. */
export async function openSandbox(settings: Settings, logger: Logger): Promise<IsolatedSandbox | undefined> {
  if (settings.isolation === 'none') return undefined
  const { createSandbox } = await import('../isolation/process-sandbox.ts')
  const limits = {
    timeoutMs: settings.expressionTimeoutMs,
    maxDepth: settings.expressionMaxDepth,
    maxSequence: settings.expressionMaxSequence,
  }
  const schema = { acceptNull: settings.validationAcceptNullValues, coerceTypes: settings.validationCoerceTypes }
  return createSandbox({
    processes: settings.isolationProcesses,
    memoryMb: settings.isolationMemoryMb,
    programOptions: { limits, schema },
    logger,
  })
}
