/** `npm test`: starts the services that tests need, runs the tests, stops the services. Arguments go to the test runner. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startServices } from '../test/services/all.ts'

const EVERYTHING = ['test/**/*.test.ts', 'samples/**/*.test.ts']

const services = await startServices((line) => console.log(line))
const given = process.argv.slice(2)
const files = given.some((argument) => argument.endsWith('.ts')) ? [] : EVERYTHING
const child = spawn(process.execPath, ['--test', ...given, ...files], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
})
// The runner gets the signal as well; the services are stopped when it has ended.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
child.on('close', async (code) => {
  await services.stop()
  process.exitCode = code ?? 1
})
