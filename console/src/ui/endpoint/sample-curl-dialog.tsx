/** A command of curl that sends the message of an endpoint's first test, to be looked at before it is copied. */

import { useQuery } from '@tanstack/react-query'
import type { RoutedRow } from '../../api/endpoint-row.ts'
import { queries } from '../../api/queries.ts'
import { useVocabulary } from '../../api/vocabulary.ts'
import { Button } from '../controls/button.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { curlCommand } from '../data/curl-command.ts'
import { TextViewer } from '../data/text-viewer.tsx'
import { QueryView } from '../states/states.tsx'
import { VisibleText } from '../text/visible-text.tsx'
import { sampleRequest } from './sample-request.ts'

export type SampleCurlDialogProps = Readonly<{
  row: RoutedRow
  /** Of the message port. */
  origin: string
  onClose(): void
}>

export function SampleCurlDialog({ row, origin, onClose }: SampleCurlDialogProps) {
  const query = useQuery({ ...queries.endpointTests(row.id), select: ({ file }) => file.tests[0] ?? null })
  const formats = useVocabulary((vocabulary) => vocabulary.formats)
  return (
    <Dialog title="Copy as curl" size="large" onClose={onClose} actions={<Button text="Close" onPress={onClose} />}>
      <QueryView query={query} what="Loading the tests of the endpoint">
        {(test) => (
          <>
            <p>
              {test === null ? (
                'The endpoint has no test: put a message in place of the sample.'
              ) : (
                <>
                  It sends the message of the test “
                  <VisibleText text={test.name} max={200} />
                  ”.
                </>
              )}{' '}
              Add the credentials that the endpoint asks for. What the command sends is a real message.
            </p>
            <QueryView query={formats} what="Loading the formats">
              {(formats) => (
                <TextViewer
                  text={curlCommand(sampleRequest(test ?? undefined, row, origin, formats))}
                  label="Command"
                  fileName={`${row.id}-curl.sh`}
                />
              )}
            </QueryView>
          </>
        )}
      </QueryView>
    </Dialog>
  )
}
