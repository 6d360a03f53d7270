/** `crosswalk openapi`: the OpenAPI document of endpoint documents, offline. */
import type { Command } from 'commander'
import { loadEnvFile } from '../../settings/settings.ts'
import { EXIT, withProject } from '../command-process.ts'
import { refuse } from '../with-settings.ts'
import type { OpenApiOptions } from './write-openapi-file.ts'

export function addOpenApiCommand(program: Command): void {
  withProject(program.command('openapi'))
    .description(
      'writes OpenAPI 3.1 of endpoint documents, as a service that has them gives it; exits with 1 if one has a fault',
    )
    .argument('[files...]', 'documents or folders with them; by default those of crosswalk.json')
    .option('-o, --output <file>', 'the file to write; by default standard output')
    .option('--target <name>', 'a target of crosswalk.json, whose values are filled in')
    .option('--title <text>', 'the title of the document', 'Crosswalk endpoints')
    .option('--api-version <text>', 'the version of the document', '1')
    .option(
      '--origin <url>',
      'the message port as callers reach it; by default PUBLIC_URL, or SERVER_PORT on localhost',
    )
    .action(async (files: readonly string[], options: OpenApiOptions) => {
      const file = loadEnvFile()
      if (!file.ok) return refuse([file.message], EXIT.impossible)
      const { writeOpenApiFile } = await import('./write-openapi-file.ts')
      process.exitCode = await writeOpenApiFile(files, options, process)
    })
}
