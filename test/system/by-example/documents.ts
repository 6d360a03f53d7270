/** Documents as users write them, with the messages that they take: beside the samples, what the rules are measured on. */
import type { JsonObject } from '../../../src/core/json.ts'
import type { MessageShape } from './shapes.ts'

export type Measurable = Readonly<{ document: JsonObject; shape: MessageShape }>

const JSON_TO_JSON = { input: 'JSON', output: 'JSON' }

/** The rules were made with these in sight. */
const KNOWN: Readonly<Record<string, Measurable>> = {
  'webshop order to invoice': {
    document: {
      transformation: JSON_TO_JSON,
      constants: { kind: 'invoice', country: 'DE', version: 2 },
      inputTransforms: {
        net: '$round($sum(requestBody.items.(qty * price)), 2)',
        customer: 'requestBody.buyer.firstName & " " & requestBody.buyer.lastName',
      },
      inputMapping: {
        'constants.kind': 'type',
        'constants.version': 'version',
        'requestBody.orderNo': 'reference',
        'requestBody.placedAt': { key: 'issueDate', transform: 'dateTimeToDate' },
        'transforms.customer': 'party.name',
        'requestBody.buyer.email': 'party.contact.mail',
        'requestBody.buyer.company': 'party.company',
        'constants.country': 'party.address.country',
        'requestBody.buyer.zip': 'party.address.postcode',
        'requestBody.buyer.city': 'party.address.city',
        'requestBody.items[].sku': 'lines[].article',
        'requestBody.items[].title': 'lines[].text',
        'requestBody.items[].qty': 'lines[].quantity',
        'requestBody.items[].price': 'lines[].unitPrice',
        'transforms.net': 'net',
        'requestBody.coupon': { key: 'discountCode', default: 'NONE' },
      },
    },
    shape: {
      body: {
        orderNo: 'id',
        placedAt: 'datetime',
        buyer: { firstName: 'text', lastName: 'text', email: 'text', 'company?': 'words', zip: 'id', city: 'text' },
        items: ['+', { sku: 'loinc', title: 'words', qty: 'small', price: 'number' }],
        'coupon?': 'text',
      },
    },
  },
  'encounters to a FHIR bundle': {
    document: {
      transformation: { input: 'JSON', output: 'FHIR+JSON' },
      constants: { bundle: 'Bundle', batch: 'batch', encounter: 'Encounter', put: 'PUT', system: 'urn:ward' },
      inputMapping: {
        'constants.bundle': 'resourceType',
        'constants.batch': 'type',
        'requestBody.visits[]': {
          key: 'entry[]',
          when: '$not(item.cancelled = true)',
          each: {
            'constants.encounter': 'resource.resourceType',
            'item.visitId': 'resource.id',
            'item.kind': {
              key: 'resource.class.code',
              transform: { function: 'mapCodes', parameters: { in: 'IMP', out: 'AMB', emergency: 'EMER' } },
            },
            'item.start': 'resource.period.start',
            'item.end': 'resource.period.end',
            'item.ward': 'resource.location[0].location.display',
            'constants.system': 'resource.location[0].location.identifier.system',
            'item.notes[]': { key: 'resource.note[]', each: { item: 'text', 'outer.author': 'authorString' } },
            'constants.put': 'request.method',
          },
        },
      },
    },
    shape: {
      body: {
        hospital: 'text',
        visits: [
          {
            visitId: 'id',
            kind: 'in|out|emergency',
            start: 'datetime',
            'end?': 'datetime',
            ward: 'text',
            author: 'words',
            'cancelled?': 'bool',
            notes: ['words'],
          },
        ],
      },
    },
  },
  'stock list to shop': {
    document: {
      transformation: { input: 'CSV', output: 'JSON' },
      inputMapping: {
        'requestBody.rows[].EAN': 'products[].gtin',
        'requestBody.rows[].Name': 'products[].title',
        'requestBody.rows[].Stock': { key: 'products[].inventory.available', transform: 'numberify' },
        'requestBody.rows[].Price': { key: 'products[].price.amount', transform: 'numberify' },
        'requestBody.rows[].Cur': 'products[].price.currency',
        'requestBody.rows[].Active': { key: 'products[].published', transform: 'booleanify' },
      },
    },
    shape: { text: 'EAN,Name,Stock,Price,Cur,Active\n*{id},{words},{int},{digits},{EUR|USD},{0|1}' },
  },
  'shipment notice in XML': {
    document: {
      transformation: { input: 'JSON', output: 'XML' },
      constants: { ns: 'urn:shipping:1', unit: 'KGM' },
      inputTransforms: {
        date: "$substring(requestBody.sentOn, 6, 4) & '-' & $substring(requestBody.sentOn, 3, 2) & '-' & $substring(requestBody.sentOn, 0, 2)",
      },
      inputMapping: {
        'constants.ns': 'notice.$.xmlns',
        'requestBody.id': 'notice.$.number',
        'transforms.date': 'notice.shipDate',
        'requestBody.carrier.name': 'notice.carrier',
        'requestBody.carrier.service': { key: 'notice.service', default: 'standard' },
        'requestBody.parcels[]': {
          key: 'notice.parcel[]',
          each: {
            'item.tracking': '$.tracking',
            'item.kg': 'weight._',
            'constants.unit': 'weight.$.unit',
            'item.contents[].sku': 'item[].code',
            'item.contents[].pieces': 'item[].quantity',
          },
        },
      },
    },
    shape: {
      body: {
        id: 'id',
        sentOn: 'dotdate',
        carrier: { name: 'text', 'service?': 'express|economy' },
        parcels: ['+', { tracking: 'uuid', kg: 'number', contents: ['+', { sku: 'loinc', pieces: 'small' }] }],
      },
    },
  },
  'registration to MRS': {
    document: {
      transformation: JSON_TO_JSON,
      constants: { idType: '05a29f94', location: '8d6c993e', attr: '14d4f066' },
      inputTransforms: {
        years: '$string($number($substring(requestBody.dob, 0, 4)))',
        gender: '$uppercase($substring(requestBody.gender, 0, 1))',
      },
      inputMapping: {
        'requestBody.nationalId': 'identifiers[0].identifier',
        'constants.idType': 'identifiers[0].identifierType',
        'constants.location': 'identifiers[0].location',
        'requestBody.given': 'person.names[0].givenName',
        'requestBody.family': 'person.names[0].familyName',
        'transforms.gender': 'person.gender',
        'requestBody.dob': 'person.birthdate',
        'transforms.years': 'person.birthYear',
        'requestBody.village': 'person.addresses[0].cityVillage',
        'requestBody.phone': 'person.attributes[0].value',
        'constants.attr': 'person.attributes[0].attributeType',
      },
    },
    shape: {
      body: {
        nationalId: 'id',
        given: 'text',
        family: 'text',
        gender: 'male|female',
        dob: 'date',
        'village?': 'text',
        phone: 'id',
      },
    },
  },
  'observations by panel': {
    document: {
      transformation: JSON_TO_JSON,
      constants: { status: 'final', ucum: 'http://unitsofmeasure.org' },
      inputTransforms: {
        results:
          "[requestBody.panels.(($p := $; tests.{ 'panel': $p.name, 'code': code, 'value': $number(value), 'unit': unit, 'when': $p.takenAt }))]",
      },
      inputMapping: {
        'requestBody.patient': 'subject',
        'transforms.results[]': {
          key: 'observations[]',
          each: {
            'constants.status': 'status',
            'item.code': 'code.coding[0].code',
            'item.panel': 'code.text',
            'item.value': 'valueQuantity.value',
            'item.unit': 'valueQuantity.unit',
            'constants.ucum': 'valueQuantity.system',
            'item.when': 'effectiveDateTime',
          },
        },
      },
    },
    shape: {
      body: {
        patient: 'id',
        panels: [
          { name: 'words', takenAt: 'datetime', tests: [{ code: 'loinc', value: 'digits', unit: 'mg|g/dL|mmol' }] },
        ],
      },
    },
  },
  'observation message to vital signs': {
    document: {
      transformation: { input: 'HL7V2', output: 'JSON' },
      inputTransforms: {
        time: "($t := requestBody.OBR[0].`7`[0].`1`; $substring($t, 0, 4) & '-' & $substring($t, 4, 2) & '-' & $substring($t, 6, 2))",
        patient: "'Patient/' & requestBody.PID[0].`3`[0].`1`",
        name: "requestBody.PID[0].`5`[0].`1` & ', ' & requestBody.PID[0].`5`[0].`2`",
      },
      inputMapping: {
        'requestBody.MSH[0].10[0].1': 'messageId',
        'transforms.patient': 'patient.reference',
        'transforms.name': 'patient.display',
        'transforms.time': 'day',
        'requestBody.PID[0].8[0].1': {
          key: 'patient.sex',
          transform: { function: 'mapCodes', parameters: { M: 'male', F: 'female', default: 'unknown' } },
        },
        'requestBody.OBX[]': {
          key: 'vitals[]',
          when: "item.`11`[0].`1` = 'F'",
          each: {
            'item.3[0].1': 'code',
            'item.3[0].2': 'label',
            'item.5[0].1': { key: 'value', transform: 'numberify' },
            'item.6[0].1': 'unit',
          },
        },
      },
    },
    shape: {
      text: 'MSH|^~\\&|MON|ICU|CROSSWALK|REGION|20260105121500+0200||ORU^R01^ORU_R01|{id}|P|2.5.1\nPID|1||{id}^^^{text}^MR||{text}^{text}||{hl7date}|{M|F|U}\nOBR|1|||VS^Vitals|||{hl7time}\n*OBX|1|NM|{loinc}^{text}^LN||{digits}|{bpm|mmHg}|||||{F|P}',
    },
  },
  'members of a team from a directory': {
    document: {
      transformation: JSON_TO_JSON,
      requests: {
        lookup: [
          {
            id: 'people',
            config: {
              method: 'GET',
              url: 'http://127.0.0.1:9/people',
              params: { query: { team: { path: 'payload.team' } } },
            },
          },
        ],
      },
      inputTransforms: {
        lead: "lookupRequests.people.data.members[role = 'lead'][0].name",
        size: '$count(lookupRequests.people.data.members)',
        mails: "$join(lookupRequests.people.data.members.email, '; ')",
      },
      inputMapping: {
        'requestBody.team': 'team.id',
        'lookupRequests.people.data.title': 'team.name',
        'transforms.lead': 'team.lead',
        'transforms.size': 'team.size',
        'transforms.mails': 'team.mails',
        'lookupRequests.people.data.members[].name': 'members[].displayName',
        'lookupRequests.people.data.members[].email': 'members[].mail',
        'requestBody.notify': { key: 'silent', transform: 'booleanFlip' },
      },
    },
    shape: {
      body: { team: 'id', notify: 'bool' },
      lookups: { people: { title: 'words', members: ['+', { name: 'words', email: 'uri', role: 'lead|member' }] } },
    },
  },
}

/** These were looked at after the rules were made. */
const LATER: Readonly<Record<string, Measurable>> = {
  'FHIR patient to flat record': {
    document: {
      transformation: { input: 'FHIR+JSON', output: 'JSON' },
      inputTransforms: {
        nid: "requestBody.identifier[system = 'urn:nid'][0].value",
        phone: "requestBody.telecom[system = 'phone'][0].value",
        full: "$join([requestBody.name[0].given, requestBody.name[0].family], ' ')",
      },
      inputMapping: {
        'requestBody.id': 'ref',
        'transforms.nid': 'nationalId',
        'transforms.phone': 'phone',
        'requestBody.name[0].family': 'surname',
        'requestBody.name[0].given[0]': 'firstName',
        'transforms.full': 'fullName',
        'requestBody.gender': {
          key: 'sex',
          transform: { function: 'mapCodes', parameters: { male: 'M', female: 'F', default: 'U' } },
        },
        'requestBody.birthDate': 'dob',
        'requestBody.address[0].line[0]': 'street',
        'requestBody.address[0].city': 'town',
        'requestBody.active': 'isActive',
      },
    },
    shape: {
      body: {
        resourceType: '=Patient',
        id: 'uuid',
        active: 'bool',
        identifier: ['+', { system: 'urn:nid|urn:mrn', value: 'id' }],
        name: ['+', { family: 'text', given: ['+', 'text'] }],
        'telecom?': [{ system: 'phone|email', value: 'id' }],
        gender: 'male|female|other',
        birthDate: 'date',
        'address?': ['+', { line: ['+', 'words'], city: 'text' }],
      },
    },
  },
  'drug dispense to FHIR': {
    document: {
      transformation: { input: 'JSON', output: 'FHIR+JSON' },
      constants: {
        type: 'MedicationDispense',
        status: 'completed',
        atc: 'http://www.whocc.no/atc',
        day: 'd',
        daySystem: 'http://unitsofmeasure.org',
      },
      inputTransforms: {
        subject: "'Patient/' & requestBody.patientNo",
        handed:
          "$fromMillis($toMillis(requestBody.date & 'T' & requestBody.time & 'Z'), '[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01]Z')",
      },
      inputMapping: {
        'constants.type': 'resourceType',
        'constants.status': 'status',
        'requestBody.dispenseId': 'id',
        'constants.atc': 'medicationCodeableConcept.coding[0].system',
        'requestBody.drug.atc': 'medicationCodeableConcept.coding[0].code',
        'requestBody.drug.name': 'medicationCodeableConcept.text',
        'transforms.subject': 'subject.reference',
        'transforms.handed': 'whenHandedOver',
        'requestBody.qty': 'quantity.value',
        'requestBody.days': 'daysSupply.value',
        'constants.day': 'daysSupply.code',
        'constants.daySystem': 'daysSupply.system',
        'requestBody.instructions[]': {
          key: 'dosageInstruction[]',
          each: { 'item.text': 'text', 'item.order': 'sequence' },
        },
        'requestBody.pharmacist': 'performer[0].actor.display',
      },
    },
    shape: {
      body: {
        dispenseId: 'uuid',
        patientNo: 'id',
        date: 'date',
        time: 'clock',
        drug: { atc: 'loinc', name: 'words' },
        qty: 'small',
        days: 'int',
        'instructions?': [{ text: 'words', order: 'small' }],
        'pharmacist?': 'words',
      },
    },
  },
  'supplier catalogue from XML': {
    document: {
      transformation: { input: 'XML', output: 'JSON' },
      constants: { source: 'supplier-7' },
      inputMapping: {
        'constants.source': 'source',
        'requestBody.$.date': 'validFrom',
        'requestBody.article[]': {
          key: 'items[]',
          when: "item.`$`.state = 'active'",
          each: {
            'item.$.no': 'sku',
            'item.title': 'name',
            'item.price._': { key: 'price', transform: 'numberify' },
            'item.price.$.cur': 'currency',
            'item.stock': { key: 'stock', transform: 'numberify', default: 0 },
            'item.tag': { key: 'tags', transform: 'appendArray' },
          },
        },
      },
    },
    shape: {
      text: '<catalogue date="{date}">\n*<article no="{id}" state="{active|gone}"><title>{words}</title><price cur="{EUR|USD}">{digits}</price><stock>{int}</stock><tag>{text}</tag><tag>{text}</tag></article>\n</catalogue>',
    },
  },
  'facilities to FHIR locations': {
    document: {
      transformation: { input: 'JSON', output: 'FHIR+JSON' },
      constants: { bundle: 'Bundle', type: 'transaction', location: 'Location', put: 'PUT', system: 'urn:mfl' },
      inputTransforms: {
        facilities:
          "[requestBody.facilities.$merge([$, { 'url': 'Location/' & code, 'parentRef': 'Location/' & parent.code }])]",
      },
      inputMapping: {
        'constants.bundle': 'resourceType',
        'constants.type': 'type',
        'transforms.facilities[]': {
          key: 'entry[]',
          each: {
            'constants.location': 'resource.resourceType',
            'item.code': ['resource.id', 'resource.identifier[0].value'],
            'constants.system': 'resource.identifier[0].system',
            'item.name': 'resource.name',
            'item.closed': {
              key: 'resource.status',
              transform: { function: 'mapCodes', parameters: { true: 'inactive', false: 'active' } },
            },
            'item.geo.lat': 'resource.position.latitude',
            'item.geo.lon': 'resource.position.longitude',
            'item.parentRef': 'resource.partOf.reference',
            'constants.put': 'request.method',
            'item.url': 'request.url',
          },
        },
      },
    },
    shape: {
      body: {
        facilities: [
          {
            code: 'id',
            name: 'words',
            closed: 'bool',
            'geo?': { lat: 'number', lon: 'number' },
            parent: { code: 'id', name: 'words' },
          },
        ],
      },
    },
  },
  'payments to ledger': {
    document: {
      transformation: JSON_TO_JSON,
      constants: { ledger: 'AR', currency: 'EUR' },
      inputTransforms: {
        cents: '$round(requestBody.amount * 100)',
        booked: "$fromMillis(requestBody.createdMs, '[Y0001]-[M01]-[D01]')",
        memo: "requestBody.method & ' ' & requestBody.reference",
        fees: '$sum(requestBody.fees.amount)',
      },
      inputMapping: {
        'constants.ledger': 'ledger',
        'requestBody.id': 'transactionId',
        'transforms.cents': 'amountCents',
        'constants.currency': 'currency',
        'transforms.booked': 'bookingDate',
        'transforms.memo': 'memo',
        'requestBody.status': {
          key: 'state',
          transform: { function: 'mapCodes', parameters: { ok: 'SETTLED', wait: 'PENDING', fail: 'REJECTED' } },
        },
        'transforms.fees': 'feeTotal',
        'requestBody.fees[].kind': 'feeKinds[]',
        'requestBody.customer.iban': 'counterparty.account',
        'requestBody.customer.name': 'counterparty.name',
      },
    },
    shape: {
      body: {
        id: 'uuid',
        amount: 'number',
        createdMs: 'millis',
        method: 'card|debit|cash',
        reference: 'id',
        status: 'ok|wait|fail',
        fees: ['+', { kind: 'text', amount: 'int' }],
        customer: { 'iban?': 'uuid', name: 'words' },
      },
    },
  },
  'laboratory order to HL7': {
    document: {
      transformation: { input: 'JSON', output: 'HL7V2' },
      constants: {
        app: 'CROSSWALK',
        type: 'OML',
        event: 'O21',
        structure: 'OML_O21',
        processing: 'P',
        version: '2.5.1',
        control: 'NW',
        delimiter: '|',
        characters: '^~\\&',
      },
      inputTransforms: { born: "$replace(requestBody.patient.born, '-', '')" },
      inputMapping: {
        'constants.delimiter': 'MSH[0].1',
        'constants.characters': 'MSH[0].2',
        'constants.app': 'MSH[0].3[0].1',
        'constants.type': 'MSH[0].9[0].1',
        'constants.event': 'MSH[0].9[0].2',
        'constants.structure': 'MSH[0].9[0].3',
        'requestBody.messageId': 'MSH[0].10[0].1',
        'constants.processing': 'MSH[0].11[0].1',
        'constants.version': 'MSH[0].12[0].1',
        'requestBody.patient.mrn': 'PID[0].3[0].1',
        'requestBody.patient.family': 'PID[0].5[0].1',
        'requestBody.patient.given': 'PID[0].5[0].2',
        'transforms.born': 'PID[0].7[0].1',
        'constants.control': 'ORC[0].1[0].1',
        'requestBody.orderNo': ['ORC[0].2[0].1', 'OBR[0].2[0].1'],
        'requestBody.test.code': 'OBR[0].4[0].1',
        'requestBody.test.name': 'OBR[0].4[0].2',
        'requestBody.comment': 'NTE[0].3[0].1',
      },
    },
    shape: {
      body: {
        messageId: 'id',
        orderNo: 'id',
        patient: { mrn: 'id', family: 'text', given: 'text', born: 'date' },
        test: { code: 'loinc', name: 'words' },
        'comment?': 'words',
      },
    },
  },
  'vaccinations to immunizations': {
    document: {
      transformation: { input: 'JSON', output: 'FHIR+JSON' },
      constants: {
        type: 'Bundle',
        collection: 'collection',
        immunization: 'Immunization',
        cvx: 'http://hl7.org/fhir/sid/cvx',
        done: 'completed',
      },
      inputMapping: {
        'constants.type': 'resourceType',
        'constants.collection': 'type',
        'requestBody.person.doses[]': {
          key: 'entry[].resource',
          when: '$exists(item.givenOn)',
          each: {
            'constants.immunization': 'resourceType',
            'constants.done': 'status',
            'item.cvx': 'vaccineCode.coding[0].code',
            'constants.cvx': 'vaccineCode.coding[0].system',
            'item.givenOn': 'occurrenceDateTime',
            'item.lot': 'lotNumber',
            'item.number': { key: 'protocolApplied[0].doseNumberPositiveInt', transform: 'numberify' },
            'item.site': { key: 'site.text', default: 'unknown' },
          },
        },
      },
    },
    shape: {
      body: {
        person: {
          id: 'id',
          doses: [{ cvx: 'loinc', 'givenOn?': 'date', 'lot?': 'uuid', number: 'digit', 'site?': 'left arm|right arm' }],
        },
      },
    },
  },
  'customer merge with lookup': {
    document: {
      transformation: JSON_TO_JSON,
      requests: {
        lookup: [
          {
            id: 'crm',
            config: {
              method: 'GET',
              url: 'http://127.0.0.1:9/crm',
              params: { query: { id: { path: 'payload.customerId' } } },
            },
          },
        ],
      },
      constants: { channel: 'web' },
      inputTransforms: {
        display: "$uppercase(lookupRequests.crm.data.lastName) & ', ' & lookupRequests.crm.data.firstName",
        vat: '$round(requestBody.net * 0.19, 2)',
      },
      inputMapping: {
        'constants.channel': 'channel',
        'requestBody.customerId': { key: 'customer.number', transform: 'numberify' },
        'transforms.display': 'customer.display',
        'lookupRequests.crm.data.segment': { key: 'customer.segment', default: 'retail' },
        'lookupRequests.crm.data.addresses[].street': 'customer.addresses[].line1',
        'lookupRequests.crm.data.addresses[].city': 'customer.addresses[].town',
        'lookupRequests.crm.data.addresses[].main': 'customer.addresses[].primary',
        'requestBody.net': 'amount.net',
        'transforms.vat': 'amount.tax',
      },
    },
    shape: {
      body: { customerId: 'id', net: 'number' },
      lookups: {
        crm: {
          lastName: 'text',
          firstName: 'text',
          'segment?': 'gold|silver',
          addresses: [{ street: 'words', city: 'text', 'main?': 'bool' }],
        },
      },
    },
  },
}

export const DOCUMENTS: Readonly<Record<string, Measurable>> = { ...KNOWN, ...LATER }
