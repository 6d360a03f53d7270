/** XML both ways: what the stages of a message use; reading and building are apart because they share nothing. */
export { buildXml, Unwritable } from './xml-build.ts'
export { isXmlName } from './xml-characters.ts'
export { parseXml, readXml, type XmlOptions } from './xml-read.ts'
