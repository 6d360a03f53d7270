/** A folder of version 0.2 of the peer: the parts of one document in files of fixed names. */
import { join } from 'node:path'
import { readFault } from '../../domain/files/files.ts'
import { isObject, type JsonObject } from '../../domain/json.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { readOneValue } from './file-source.ts'
import { duplicate, hasPattern } from './found-records.ts'
import { faultyReading, joinReadings, NOTHING_READ, type SourceReading } from './source-reading.ts'

const META_FILE = 'meta.json'

/** The field of the document that each other file holds. */
const FIELDS: Readonly<Record<string, string>> = {
  'constants.json': 'constants',
  'input-mapping.json': 'inputMapping',
  'input-validation.json': 'inputValidation',
}

export const PART_FILES: readonly string[] = [META_FILE, ...Object.keys(FIELDS)]

const VERSION = '0.2.0'

/** Other programs have files of these names too. `names`: of the files in the folder. */
export async function isPartsFolder(path: string, names: readonly string[]): Promise<boolean> {
  if (!names.includes(META_FILE)) return false
  try {
    const { value } = await readOneValue(join(path, META_FILE))
    return isObject(value) && hasPattern(value)
  } catch {
    return names.includes('input-mapping.json')
  }
}

/** Out: the document of the folder, or the faults of its files. Never throws. */
export async function readPartsFolder(path: string, source: string, names: readonly string[]): Promise<SourceReading> {
  const readings = await Promise.all(
    PART_FILES.filter((name) => names.includes(name)).map((name) =>
      readPart(join(path, name), join(source, name), name),
    ),
  )
  const reading = joinReadings(readings)
  if (reading.faults.length > 0) return { ...NOTHING_READ, faults: reading.faults }
  const document: JsonObject = Object.assign({}, ...reading.documents.map((part) => part.document))
  const duplicateNames = reading.documents.flatMap((part) => part.duplicateNames)
  return {
    ...NOTHING_READ,
    documents: [{ source, document, duplicateNames, isCanonical: false, peerVersion: VERSION }],
  }
}

/** The part as a document that has only its fields. */
async function readPart(path: string, source: string, name: string): Promise<SourceReading> {
  try {
    const { value, dropped } = await readOneValue(path)
    if (!isObject(value)) return faultyReading(`${source} must hold an object.`)
    const field = FIELDS[name]
    const duplicateNames = dropped.map(({ steps, value }) =>
      duplicate({ steps: field === undefined ? steps : [field, ...steps], value }),
    )
    const document = field === undefined ? value : { [field]: value }
    return { ...NOTHING_READ, documents: [{ source, document, duplicateNames, isCanonical: false }] }
  } catch (thrown) {
    if (thrown instanceof Unreadable) return faultyReading(`${source}: ${thrown.message}`)
    return faultyReading(readFault(source, thrown))
  }
}
