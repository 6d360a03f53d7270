import { changeTexts, type JsonObject } from '../core/json.ts'
import type { Codec } from './codec.ts'
import type { NameLimits } from './name-limits.ts'
import { rewriteBody } from './rewrite-body.ts'
import { buildXml } from './xml-build.ts'
import { isXmlName, withoutForbidden } from './xml-characters.ts'
import { readXml } from './xml-read.ts'

/** Loses nothing that is not white space between elements. */
const WHOLE = { trim: false, explicitRoot: true, explicitArray: false }

export const XML_CODEC = {
  name: 'XML',
  title: 'XML',
  mediaType: 'application/xml',
  profiles: {},
  aliases: ['text/xml'],
  suffix: 'xml',
  fileEndings: ['.xml'],
  sample: '<message><id>17</id></message>',
  accept: 'application/xml, application/json;q=0.9, */*;q=0.8',
  read: (bytes, charset, settings) =>
    readXml(bytes, charset, {
      trim: settings.parserXmlTrim,
      explicitRoot: settings.parserXmlExplicitRoot,
      explicitArray: settings.parserXmlExplicitArray,
      parserMaxNames: settings.parserMaxNames,
      parserMaxNamesPerObject: settings.parserMaxNamesPerObject,
    }),
  looksLike: (text) => /^\s*</.test(text),
  detect: () => undefined,
  build: buildXml,
  buildFailure: (body) => buildXml(changeTexts({ root: body }, withoutForbidden)),
  findRoot: (text) => Object.keys(readXml(Buffer.from(text), 'utf-8', WHOLE) as JsonObject)[0],
  unwrapsLists: true,
  hasTypes: false,
  schemaNotes: {
    read: 'The schema describes the value that the XML is read as: the root element is left out, attributes are under `$`, text beside them under `_`, every other value is a string, and an element that is repeated is a list.',
    written:
      'The schema describes the value that is written as XML: a member is an element, `$` holds attributes and `_` text; several top-level members are in `<root>`.',
  },
  failureKeywords: { xml: { name: 'root' } },
  emptyAnswer: buildXml({}),
  nullBody: undefined,
  rewrite: (bytes, charset, change, limits?: NameLimits) => {
    return rewriteBody(bytes, readXml(bytes, charset, { ...limits, ...WHOLE }), change, buildXml)
  },
  markers: ['$', '_'],
  keyFault: (key) =>
    isXmlName(key)
      ? undefined
      : `"${key}" cannot be the name of an XML element, and would become one here; choose another.`,
  pathFault: undefined,
} as const satisfies Codec
