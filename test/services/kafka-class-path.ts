/**
 * The class path of a Kafka broker, fetched by Maven once and remembered: asking Maven again costs seconds, and a
 * network that may be away.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const pom = fileURLToPath(new URL('kafka-pom.xml', import.meta.url))
const cache = fileURLToPath(new URL('../../node_modules/.cache/crosswalk', import.meta.url))

/** Whether this machine can run a broker by itself: Java 17 or newer, and Maven. Else why not, in one sentence. */
export async function whyNoJava(): Promise<string | undefined> {
  try {
    const { stderr, stdout } = await run('java', ['-version'])
    const version = Number(/version "(\d+)/.exec(stderr + stdout)?.[1])
    if (!(version >= 17)) return `it needs Java 17 or newer, and this machine has ${version || 'another'}`
  } catch {
    return 'this machine has no Java'
  }
  try {
    await run('mvn', ['-v'])
    return undefined
  } catch {
    return 'this machine has no Maven'
  }
}

/** The jars of the broker, as Java's -cp takes them. Rejects where Maven cannot fetch them. */
export async function kafkaClassPath(): Promise<string> {
  const version = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12)
  const file = join(cache, `kafka-${version}.classpath`)
  const known = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (known?.split(':').every((jar) => existsSync(jar))) return known
  mkdirSync(cache, { recursive: true })
  // Several processes may do this at once: each writes its own file, and the last rename wins.
  const own = `${file}.${process.pid}`
  await run('mvn', ['-q', '-B', '-f', pom, 'dependency:build-classpath', `-Dmdep.outputFile=${own}`], {
    timeout: 300_000,
  })
  renameSync(own, file)
  return readFileSync(file, 'utf8')
}
