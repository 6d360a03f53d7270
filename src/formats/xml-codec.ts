import { changeTexts } from '../core/json.ts'
import type { Codec } from './codec.ts'
import type { NameLimits } from './name-limits.ts'
import { buildXml } from './xml-build.ts'
import { isXmlName, withoutForbidden } from './xml-characters.ts'
import { readXml } from './xml-read.ts'

/** Loses nothing that is not white space between elements. */
const WHOLE = { trim: false, explicitRoot: true, explicitArray: false }

export const XML_CODEC = {
  name: 'XML',
  mediaType: 'application/xml',
  profiles: {},
  aliases: ['text/xml'],
  suffix: 'xml',
  accept: 'application/xml, application/json;q=0.9, */*;q=0.8',
  read: (bytes, charset, settings) =>
    readXml(bytes, charset, {
      trim: settings.parserXmlTrim,
      explicitRoot: settings.parserXmlExplicitRoot,
      explicitArray: settings.parserXmlExplicitArray,
      parserMaxNames: settings.parserMaxNames,
      parserMaxNamesPerObject: settings.parserMaxNamesPerObject,
    }),
  detect: () => undefined,
  build: buildXml,
  buildFailure: (body) => buildXml(changeTexts({ root: body }, withoutForbidden)),
  emptyAnswer: buildXml({}),
  nullBody: undefined,
  rewrite: (bytes, charset, change, limits?: NameLimits) => {
    const value = readXml(bytes, charset, { ...limits, ...WHOLE })
    const changed = change(value)
    return changed === value ? bytes : Buffer.from(buildXml(changed))
  },
  markers: ['$', '_'],
  keyFault: (key) =>
    isXmlName(key)
      ? undefined
      : `"${key}" cannot be the name of an XML element, and would become one here; choose another.`,
} as const satisfies Codec
