/** HL7 v2 messages of the kinds that hospitals send. All persons, facilities and numbers are invented. */

type Message = Readonly<{ name: string; bytes: Buffer }>

const lines = (...segments: readonly string[]): string => segments.map((segment) => `${segment}\r`).join('')

const head = (type: string, id: string, rest = 'P|2.5.1'): string =>
  `MSH|^~\\&|HIS|NORTH CLINIC|HUB|REGION|20260105093000+0000||${type}|${id}|${rest}`

const DOE = 'PID|1||4711^^^NORTH^MR||Doe^Jane^Q||19800214|F'

const TEXTS: Readonly<Record<string, string>> = {
  'ADT^A01 admission': lines(
    head('ADT^A01^ADT_A01', 'A1'),
    'EVN|A01|20260105093000',
    'PID|1||4711^^^NORTH&1.2.3.4&ISO^MR~S-99^^^REGION^NI||Doe^Jane^Quinn^^^^L||19800214|F|||1 High Street^^Springfield^^12345^XY||555-0100^PRN^PH~jane@example.org^NET^Internet',
    'NK1|1|Doe^John|SPO',
    'PV1|1|I|W1^12^A^NORTH||||77^Hart^Ines^^^Dr|||MED||||1|||77^Hart^Ines|IN|V100|||||||||||||||||||||||||20260105090000',
    'AL1|1|DA|PEN^Penicillin^L|MO|Rash',
  ),
  'ADT^A01 with a trailing separator on every segment': lines(
    `${head('ADT^A01', 'A2')}|`,
    'PID|1||4712^^^NORTH^MR||Roe^Richard||19751231|M||||||||||',
    'PV1|1|O|',
  ),
  'ADT^A02 transfer': lines(head('ADT^A02^ADT_A02', 'A3'), 'EVN|A02|20260106', DOE, 'PV1|1|I|W2^3^B|||W1^12^A'),
  'ADT^A03 discharge': lines(
    head('ADT^A03', 'A4'),
    DOE,
    'PV1|1|I||||||||||||||||||V100||||||||||||||||01||||||||20260107|20260109',
  ),
  'ADT^A04 registration': lines(head('ADT^A04', 'A5'), 'PID|||4713||Poe^Ada', 'PV1||O', 'GT1|1||Poe^Edgar'),
  'ADT^A08 with deletions': lines(
    head('ADT^A08', 'A6'),
    'PID|1||4711||Doe^Jane||""|F|||""^""^Springfield||""',
    'PV1|1|I|""',
  ),
  'ADT^A11 cancelled admission': lines(head('ADT^A11', 'A7'), DOE, 'PV1|1|N'),
  'ADT^A28 with insurance': lines(
    head('ADT^A28', 'A8'),
    DOE,
    'IN1|1|PLAN^Basic|IC1|Mutual^L^^^^^XX|||||||20250101||||Doe^Jane|SEL',
  ),
  'ADT^A31 with segments of the site': lines(
    head('ADT^A31', 'A9'),
    DOE,
    'ZPI|1|VIP^Y~LANG^en|x&y&z',
    'ZZ1',
    'Z99|',
    'ZA0|||',
  ),
  'ADT^A34 merge': lines(head('ADT^A34', 'A10'), DOE, 'MRG|4700^^^NORTH^MR~4699^^^NORTH^MR'),
  'ADT^A40 merge': lines(head('ADT^A40^ADT_A39', 'A11'), DOE, 'MRG|4701^^^NORTH^MR||||||Doe^J'),
  'ORU^R01 blood count': lines(
    head('ORU^R01^ORU_R01', 'R1'),
    DOE,
    'ORC|RE|O1^HIS|F1^LAB',
    'OBR|1|O1^HIS|F1^LAB|58410-2^CBC^LN|||20260105080000|||||||||77^Hart^Ines',
    'OBX|1|NM|718-7^Hemoglobin^LN||13.2|g/dL^^UCUM|12-16|N|||F',
    'OBX|2|NM|6690-2^Leukocytes^LN||11.4|10*3/uL^^UCUM|4-10|H|||F',
    'NTE|1|L|Repeat in two weeks',
    'OBX|3|ST|X1^Comment^L||Sample \\T\\ tube labelled A\\F\\B||||||F',
  ),
  'ORU^R01 with a report of several lines': lines(
    head('ORU^R01', 'R2'),
    DOE,
    'OBR|1|||18748-4^Report^LN',
    'OBX|1|FT|18748-4^Report^LN||\\H\\Findings\\N\\\\.br\\No fracture.\\.br\\\\.sp2\\Signed||||||F',
    'OBX|2|TX|18748-4^Report^LN||first line~second line~~fourth line||||||F',
  ),
  'ORU^R01 with structured numbers': lines(
    head('ORU^R01', 'R3'),
    DOE,
    'OBR|1|||1^Panel^L',
    'OBX|1|SN|1^Titer^L||^1^:^128||||||F',
    'OBX|2|SN|2^Less^L||<^10||||||F',
    'OBX|3|CE|3^Blood group^L||A^Group A^L~POS^Rh positive^L||||||F',
  ),
  'ORU^R01 with an encapsulated document': lines(
    head('ORU^R01', 'R4'),
    DOE,
    'OBR|1|||11502-2^Lab report^LN',
    'OBX|1|ED|11502-2^Lab report^LN||LAB^Application^PDF^Base64^JVBERi0xLjQKJeLjz9MK||||||F',
  ),
  'ORU^R01 with empty repetitions and components': lines(
    head('ORU^R01', 'R5'),
    DOE,
    'OBX|1|CE|A~||~~|^^|^|&|&&^&|a&|a^|a~|~a|^a|&a|a&&b^^c&~^',
  ),
  'ORU^R01 with hexadecimal escapes': lines(
    head('ORU^R01', 'R6'),
    'OBX|1|ST|1^X||line one\\X0D\\line two\\X0d0a\\line three\\X0A\\\\X41\\||tab\there|\\XC3A9\\|\\XFF\\|\\X0\\|\\X\\||F',
  ),
  'ORU^R01 with escapes that are none': lines(
    head('ORU^R01', 'R7'),
    'OBX|1|ST|1^X||C:\\data\\new|50\\|\\|\\\\|\\\\\\|\\Zab\\|\\F|\\f\\|\\E\\F\\E\\|\\P\\|\\C2842\\|\\M2442\\|\\.in+4\\x',
  ),
  'ORM^O01 order': lines(
    head('ORM^O01^ORM_O01', 'O1'),
    DOE,
    'PV1|1|O|CLIN',
    'ORC|NW|O2^HIS|||||^^^20260105^^R',
    'OBR|1|O2^HIS||24331-1^Lipids^LN|||20260105||||A||fasting \\R\\ water only|||77^Hart',
    'DG1|1||E78.5^Hyperlipidemia^I10',
  ),
  'OML^O21 laboratory order': lines(
    head('OML^O21^OML_O21', 'O3'),
    DOE,
    'ORC|NW|O3',
    'TQ1|1||||||20260106|||R',
    'OBR|1|O3||2345-7^Glucose^LN',
    'SPM|1|S1&HIS^S1&LAB||SER^Serum',
  ),
  'RDE^O11 pharmacy order': lines(
    head('RDE^O11', 'O4'),
    DOE,
    'ORC|NW|O4',
    'RXE|^^^20260105^^R|0069^Amoxicillin^L|500||mg|CAP||^3 times a day',
    'RXR|PO^Oral',
  ),
  'SIU^S12 appointment': lines(
    head('SIU^S12^SIU_S12', 'S1'),
    'SCH|AP1^HIS|||||ROUTINE^Routine^L|CHECK^Check-up|NORMAL|30|min|^^30^202601201000^202601201030|||||77^Hart^Ines||||||BOOKED',
    DOE,
    'RGS|1|A',
    'AIS|1|A|CHECK|202601201000|||30|min',
    'AIP|1|A|77^Hart^Ines|DOC',
    'AIL|1|A|ROOM1^^^NORTH',
  ),
  'SIU^S15 cancelled appointment': lines(
    head('SIU^S15', 'S2'),
    'SCH|AP1^HIS||||||Patient asked to cancel \\S\\ will call',
    DOE,
    'RGS|1|D',
  ),
  'MDM^T02 document': lines(
    head('MDM^T02^MDM_T02', 'M1'),
    'EVN|T02|20260105',
    DOE,
    'PV1|1|I',
    'TXA|1|DS^Discharge summary|TX|20260105|77^Hart|||||||DOC1^HIS|||||AU||AV',
    'OBX|1|TX|DS||Discharged in good condition.\\.br\\Review in a week.||||||F',
  ),
  'VXU^V04 vaccination': lines(
    head('VXU^V04^VXU_V04', 'V1', 'P|2.5.1|||ER|AL|||||Z22^CDCPHINVS'),
    'PID|1||4714^^^NORTH^MR||Doe^Baby^^^^^L||20251101|M',
    'ORC|RE||I1^HIS',
    'RXA|0|1|20260105||08^Hep B^CVX|0.5|mL^^UCUM||00^New record^NIP001|77^Hart|^^^NORTH||||L42||||CP|A',
    'RXR|IM^Intramuscular^HL70162|LT^Left thigh^HL70163',
    'OBX|1|CE|64994-7^Funding^LN|1|V01^Not eligible^HL70064||||||F',
  ),
  'QBP^Q11 query': lines(
    head('QBP^Q11^QBP_Q11', 'Q1'),
    'QPD|Z34^Request^HL70471|T1|4714^^^NORTH^MR|Doe^Baby',
    'RCP|I|1^RD',
  ),
  'ACK of an acceptance': lines('MSH|^~\\&|HUB|REGION|HIS|NORTH|20260105||ACK^A01|A1|P|2.5.1', 'MSA|AA|A1'),
  'ACK of an error': lines(
    'MSH|^~\\&|HUB||HIS||20260105||ACK|A2|P|2.5.1',
    'MSA|AE|A1|no such patient',
    'ERR||PID^1^3|204^Unknown key identifier^HL70357|E',
  ),
  'DFT^P03 charges': lines(
    head('DFT^P03', 'F1'),
    DOE,
    'FT1|1|||20260105||CG|99213^Visit^C4|||1|85.00&USD',
    'FT1|2|||20260105||CG|85025^CBC^C4|||1|12.50&USD',
  ),
  'MFN^M02 staff': lines(
    head('MFN^M02', 'F2'),
    'MFI|PRA^Practitioner^HL70175||UPD|||NE',
    'MFE|MAD|||77',
    'STF|77|U77|Hart^Ines|P|F',
  ),
  'a header alone': 'MSH|^~\\&',
  'a header with empty fields': 'MSH|^~\\&|||||\r',
  'other delimiters': lines(
    'MSH$%*!@$HIS$NORTH$$$$$ADT%A01$D1$P$2.3',
    'PID$1$$4711%%%N@1.2@ISO*S9$$Do!F!e%Jane|^~\\&$',
    'ZX1$!S!!T!!R!!E!',
  ),
  'a header with two delimiters': lines('MSH|^~|HIS||||||ADT^A01|D2|P|2.1', 'PID|1||4711~4712||O\\Neil^Sam & Pat'),
  'a header with a truncation character': lines(
    'MSH|^~\\&#|HIS||||||ADT^A01|D3|P|2.7',
    'PID|1||4711||A very long na#^Jane \\P\\ 1',
  ),
  'line feeds as the ends of segments': `${head('ADT^A01', 'L1')}\n${DOE}\nPV1|1|I\n`,
  'carriage returns and line feeds, and none at the end': `${head('ADT^A01', 'L2')}\r\n${DOE}\r\nPV1|1|I`,
  'mixed ends, empty lines and a byte order mark': `\uFEFF\r\n${head('ADT^A01', 'L3')}\n${DOE}\r\r\nPV1|1|I\n\n`,
  'line feeds within a text': lines(
    head('ORU^R01', 'L4'),
    'OBX|1|TX|1^X||first\nsecond\n\nOBX third\n^\nPID^\nx\n|F',
    'NTE|1||\nend',
  ),
  'UTF-8 by MSH-18': lines(
    head('ADT^A01', 'U1', 'P|2.5.1||||||UNICODE UTF-8'),
    'PID|1||4715||Łukasiewicz^Zoë^李||19800214|F|||Straße 1^^Ōsaka',
  ),
  'UTF-8 without a name': lines(head('ADT^A01', 'U2'), 'PID|1||4716||Müller^Søren 😀'),
}

/** Written in a charset in which a character is a byte of the same number. */
const LATIN: Readonly<Record<string, string>> = {
  'ISO-8859-1 by MSH-18': lines(
    head('ADT^A01', 'C1', 'P|2.5.1||||||8859/1'),
    'PID|1||4717||M\xfcller^Zo\xeb|\\XE9\\|\x80\x93\x94\x81',
  ),
  'ISO-8859-1 without a name': lines(head('ADT^A01', 'C2'), 'PID|1||4718||M\xfcller^Zo\xeb'),
  'ISO-8859-2 by MSH-18': lines(head('ADT^A01', 'C3', 'P|2.5.1||||||8859/2'), 'PID|1||4719||\xa3ukasiewicz^\xa1'),
  'ISO-8859-15 by the first repetition of MSH-18': lines(
    head('ADT^A01', 'C4', 'P|2.5.1||||||8859/15~UNICODE UTF-8'),
    'PID|1||4720||100 \xa4',
  ),
}

export const HL7_MESSAGES: readonly Message[] = [
  ...Object.entries(TEXTS).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
  ...Object.entries(LATIN).map(([name, text]) => ({ name, bytes: Buffer.from(text, 'latin1') })),
]
