/** How commands read the settings and say why they do nothing. */
import { loadEnvFile, readSettings, type Settings } from '../settings/settings.ts'

/** Runs a command only if all settings are valid; `.env` is read first. `exitCode`: where they are not. */
export function withSettings(
  run: (settings: Settings, warnings: readonly string[]) => Promise<void>,
  exitCode = 1,
): () => Promise<void> {
  return async () => {
    const file = loadEnvFile()
    if (!file.ok) return refuse([file.message], exitCode)
    const reading = readSettings(process.env)
    if (!reading.ok) return refuse(reading.faults, exitCode)
    await run(reading.settings, reading.warnings)
  }
}

/** Reports why the process cannot start or do its work: one line for each fault, without a stack. Sets the exit code. */
export function refuse(faults: readonly string[], exitCode = 1): void {
  for (const fault of faults) process.stderr.write(`crosswalk: ${fault}\n`)
  process.exitCode = exitCode
}

/** The sentence for an error of a start, of the store or of a port. */
export function startFault(thrown: unknown, settings: Settings): string {
  const { code, message, port } = thrown as { code?: string; message?: string; port?: number }
  const setting = port === settings.adminPort ? 'ADMIN_PORT' : 'SERVER_PORT'
  if (code === 'EADDRINUSE') return `Port ${port} is in use already; stop what uses it or set ${setting}.`
  if (code === 'EACCES')
    return `Port ${port} requires more rights than this user has; set ${setting} to 1024 or higher.`
  if (code === 'EADDRNOTAVAIL') return `This machine has no such address (${message}); set HOST or ADMIN_HOST.`
  return message ?? String(thrown)
}
