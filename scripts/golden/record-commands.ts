/** Records each command: its exit code and output, and at the end all files that the commands left. */
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { COMMANDS, FILES } from './commands.ts'
import { root } from './messages.ts'
import type { Recording } from './recording.ts'
import { runCommand, startService } from './tree-process.ts'

export async function recordCommands(recording: Recording): Promise<void> {
  const { tree, work, stable } = recording
  const service = await startService(tree, join(work, 'service'), stable, { MESSAGE_LOG: 'all' })
  const fill = (text: string) => text.replaceAll('{admin}', service.admin).replaceAll('{message}', service.message)
  const project = join(work, 'project')
  cpSync(join(root, 'samples'), join(project, 'endpoints'), { recursive: true })
  cpSync(join(root, 'test/support/migrate/endpoints'), join(project, 'openhim'), { recursive: true })
  cpSync(join(root, 'test/support/migrate/transactions.jsonl'), join(project, 'transactions.jsonl'))
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(project, file)), { recursive: true })
    writeFileSync(join(project, file), fill(text))
  }
  for (const { line, stdin, env } of COMMANDS) {
    const args =
      line === ''
        ? []
        : fill(line)
            .split(' ')
            .map((word) => word.replaceAll('_', ' '))
    const { code, stdout, stderr } = await runCommand(tree, project, args, {
      ...(env && { env }),
      ...(stdin && { stdin }),
    })
    const [command = 'start'] = line.split(' ')
    const title = `crosswalk ${line}${env === undefined ? '' : ` ${JSON.stringify(env)}`}`
    recording.write(
      `commands/${/^\w/.test(command) ? command : 'program'}.txt`,
      title,
      `EXIT ${code}\nSTDOUT\n${stdout}\nSTDERR\n${stderr}`,
    )
    recording.count()
  }
  const written = globSync('**/*.{json,csv,md,txt,xml,import}', { cwd: project }).sort()
  for (const file of written) recording.copy(`commands/files/${file}`, readFileSync(join(project, file), 'utf8'))
  await service.stop()
}
