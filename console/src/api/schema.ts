/** Written by scripts/types-console.ts: change that, not this. */
export interface paths {
    "/uptime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Milliseconds since the process started. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Alive. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All endpoints, oldest first; any field path may be given as an equality filter. With view=summary, a page of rows. Role viewer. */
        get: {
            parameters: {
                query?: {
                    /** @description A page of rows with counts instead of whole documents. */
                    view?: "summary";
                    /** @description Of the summary: words, all in the name, description, pattern, labels or id. */
                    q?: string;
                    /** @description Of the summary: by name unless given; "-" sorts descending. */
                    sort?: "name" | "-name" | "pattern" | "-pattern" | "method" | "-method" | "createdAt" | "-createdAt" | "updatedAt" | "-updatedAt";
                    /** @description Of the summary: rows of a page. */
                    limit?: number;
                    /** @description Of the summary: only endpoints that have a `reason`. */
                    faults?: "true";
                    /** @description Of the summary: `next` of the page before, with the same sort. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The stored documents; with view=summary a page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Endpoint"][] | components["schemas"]["SummaryPage"];
                    };
                };
                /** @description FILTER_INVALID: A query filter is not known, or has a value that it cannot have. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        /** Registers an endpoint. Role author. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            responses: {
                /** @description The stored document. */
                201: {
                    headers: {
                        /** @description What is probably not meant: a JSON list of path and message in ASCII, cut at about 4,000 characters; not there where there is nothing. */
                        "X-Crosswalk-Warnings"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Endpoint"];
                    };
                };
                /**
                 * @description CONFIGURATION_INVALID: The endpoint document has faults; `details` lists all of them, each with its path.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description CONFIGURATION_CLASH: Another endpoint has the same name, or a pattern that matches the same paths for the same method.
                 *     ENDPOINTS_TOO_MANY: There are as many endpoints as `MAX_ENDPOINTS` allows; delete one that is not needed.
                 *     TESTS_FAILED: Stored tests of the endpoint fail with the new document (`TESTS_ON_CHANGE=require`); `details` has each. An admin may override this with a reason.
                 */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description DOCUMENT_TOO_LARGE: The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.
                 *     BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`.
                 */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** One endpoint. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The stored document. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Endpoint"];
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        /** Replaces the whole configuration. Role author. */
        put: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string;
                    /** @description The reason for which the change is made although stored tests of the endpoint fail; needs the role admin. */
                    "X-Crosswalk-Override"?: string;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            responses: {
                /** @description The stored document. */
                200: {
                    headers: {
                        /** @description What is probably not meant: a JSON list of path and message in ASCII, cut at about 4,000 characters; not there where there is nothing. */
                        "X-Crosswalk-Warnings"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Endpoint"];
                    };
                };
                /**
                 * @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     CONFIGURATION_INVALID: The endpoint document has faults; `details` lists all of them, each with its path.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description CONFIGURATION_CLASH: Another endpoint has the same name, or a pattern that matches the same paths for the same method.
                 *     ENDPOINTS_TOO_MANY: There are as many endpoints as `MAX_ENDPOINTS` allows; delete one that is not needed.
                 *     TESTS_FAILED: Stored tests of the endpoint fail with the new document (`TESTS_ON_CHANGE=require`); `details` has each. An admin may override this with a reason.
                 */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description PRECONDITION_FAILED: `If-Match` names another version of the document than the stored one. */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description DOCUMENT_TOO_LARGE: The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.
                 *     BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`.
                 */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        post?: never;
        /** Deletes an endpoint. Role author. */
        delete: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is deleted. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description PRECONDITION_FAILED: `If-Match` names another version of the document than the stored one. */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /** Changes parts of the configuration by a JSON Merge Patch (RFC 7396). Role author. */
        patch: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string;
                    /** @description The reason for which the change is made although stored tests of the endpoint fail; needs the role admin. */
                    "X-Crosswalk-Override"?: string;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/merge-patch+json": Record<string, never>;
                };
            };
            responses: {
                /** @description The stored document. */
                200: {
                    headers: {
                        /** @description What is probably not meant: a JSON list of path and message in ASCII, cut at about 4,000 characters; not there where there is nothing. */
                        "X-Crosswalk-Warnings"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Endpoint"];
                    };
                };
                /**
                 * @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     CONFIGURATION_INVALID: The endpoint document has faults; `details` lists all of them, each with its path.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description CONFIGURATION_CLASH: Another endpoint has the same name, or a pattern that matches the same paths for the same method.
                 *     ENDPOINTS_TOO_MANY: There are as many endpoints as `MAX_ENDPOINTS` allows; delete one that is not needed.
                 *     TESTS_FAILED: Stored tests of the endpoint fail with the new document (`TESTS_ON_CHANGE=require`); `details` has each. An admin may override this with a reason.
                 */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description PRECONDITION_FAILED: `If-Match` names another version of the document than the stored one. */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description DOCUMENT_TOO_LARGE: The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.
                 *     BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`.
                 */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/endpoints/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes up to 1,000 changes, checked against what is stored afterwards: all of them, or none. Role author. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The reason for which the change is made although stored tests of the endpoint fail; needs the role admin. */
                    "X-Crosswalk-Override"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            responses: {
                /** @description All changes are stored and active; in a dry run, they could be. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            results: components["schemas"]["OperationResult"][];
                            dryRun: boolean;
                        };
                    };
                };
                /**
                 * @description BATCH_INVALID: The request of a batch is wrong; `details` lists every fault. Faults of its documents have the codes of single changes.
                 *     ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     CONFIGURATION_INVALID: The endpoint document has faults; `details` lists all of them, each with its path.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description CONFIGURATION_CLASH: Another endpoint has the same name, or a pattern that matches the same paths for the same method.
                 *     ENDPOINTS_TOO_MANY: There are as many endpoints as `MAX_ENDPOINTS` allows; delete one that is not needed.
                 *     TESTS_FAILED: Stored tests of the endpoint fail with the new document (`TESTS_ON_CHANGE=require`); `details` has each. An admin may override this with a reason.
                 */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description PRECONDITION_FAILED: `If-Match` names another version of the document than the stored one. */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description DOCUMENT_TOO_LARGE: The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.
                 *     BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`.
                 */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** How many messages there were in the last hour and day, how many failed, and how long they took. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The counts of all instances. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Stats"];
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/faults": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** The faults of a stored endpoint, and why it is not active if it is not. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The faults; none for most endpoints. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EndpointFaults"];
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/drift": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** Fields that recent messages carry and nothing reads, and fields that are read and not carried. Role viewer. */
        get: {
            parameters: {
                query?: {
                    /** @description How many hours count, the current one included. */
                    hours?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Names and types of fields, without values. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Drift"];
                    };
                };
                /**
                 * @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     FILTER_INVALID: A query filter is not known, or has a value that it cannot have.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** The versions of an endpoint, newest first, also of one that was deleted. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Without documents. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Version"][];
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                version: number;
            };
            cookie?: never;
        };
        /** One version, with its document. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    version: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The version. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Version"];
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ENDPOINT_UNKNOWN: No endpoint has this id.
                 *     VERSION_UNKNOWN: The endpoint has no version of this number, or no longer, or the version is a deletion.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/versions/{version}/diff/{other}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                version: number;
                other: number;
            };
            cookie?: never;
        };
        /** What differs from one version to another. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    version: number;
                    other: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The changes, and both versions. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["VersionDiff"];
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ENDPOINT_UNKNOWN: No endpoint has this id.
                 *     VERSION_UNKNOWN: The endpoint has no version of this number, or no longer, or the version is a deletion.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/versions/{version}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                version: number;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes the document of an earlier version active again, as a new version. Role author. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string;
                    /** @description The reason for which the change is made although stored tests of the endpoint fail; needs the role admin. */
                    "X-Crosswalk-Override"?: string;
                };
                path: {
                    id: string;
                    version: number;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": unknown;
                };
            };
            responses: {
                /** @description The stored document. */
                200: {
                    headers: {
                        /** @description What is probably not meant: a JSON list of path and message in ASCII, cut at about 4,000 characters; not there where there is nothing. */
                        "X-Crosswalk-Warnings"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Endpoint"];
                    };
                };
                /**
                 * @description CONFIGURATION_INVALID: The endpoint document has faults; `details` lists all of them, each with its path.
                 *     ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ENDPOINT_UNKNOWN: No endpoint has this id.
                 *     VERSION_UNKNOWN: The endpoint has no version of this number, or no longer, or the version is a deletion.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description CONFIGURATION_CLASH: Another endpoint has the same name, or a pattern that matches the same paths for the same method.
                 *     ENDPOINTS_TOO_MANY: There are as many endpoints as `MAX_ENDPOINTS` allows; delete one that is not needed.
                 *     TESTS_FAILED: Stored tests of the endpoint fail with the new document (`TESTS_ON_CHANGE=require`); `details` has each. An admin may override this with a reason.
                 */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description PRECONDITION_FAILED: `If-Match` names another version of the document than the stored one. */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description DOCUMENT_TOO_LARGE: The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.
                 *     BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`.
                 */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a document would change; nothing is stored. Role viewer. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            responses: {
                /** @description The changes. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DocumentDiff"];
                    };
                };
                /**
                 * @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     CONFIGURATION_INVALID: The endpoint document has faults; `details` lists all of them, each with its path.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** OpenAPI 3.1 of the active endpoints; any field path may be given as an equality filter. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: {
                    "If-None-Match"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The routes of the message port, as far as their documents describe them. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
                /** @description The document is the one of `If-None-Match`. */
                304: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description FILTER_INVALID: A query filter is not known, or has a value that it cannot have. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** OpenAPI 3.1 of one endpoint. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: {
                    "If-None-Match"?: string;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its route; no path while the endpoint is not active. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
                /** @description The document is the one of `If-None-Match`. */
                304: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/vocabulary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What an editor of documents can complete: fields, roots, functions, codes. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The vocabulary of this version of the service. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Vocabulary"];
                    };
                };
                /** @description Unchanged. */
                304: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/suggest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Entries of inputMapping for fields of the same name, place and type. Role viewer. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SuggestRequest"];
                };
            };
            responses: {
                /** @description The best first; without values of the samples. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Suggestions"];
                    };
                };
                /**
                 * @description SUGGESTION_INVALID: The request for suggestions is wrong; `details` lists every fault.
                 *     ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ENDPOINT_UNKNOWN: No endpoint has this id.
                 *     MESSAGE_UNKNOWN: The message log has no message with this id, or no longer.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A document with the fields of a sample message, and a test of it; nothing is stored. Role author. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DraftRequest"];
                };
            };
            responses: {
                /** @description The document, to be changed and created. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EndpointDraft"];
                    };
                };
                /**
                 * @description SUGGESTION_INVALID: The request for suggestions is wrong; `details` lists every fault.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What an endpoint would make of a message; nothing is sent on, and no state is written. Role operator or author. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DryRun"];
                };
            };
            responses: {
                /** @description The course of the message, and the faults of the document. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DryRunReport"];
                    };
                };
                /**
                 * @description DRY_RUN_INVALID: The request of a dry run is wrong; `details` lists every fault. Faults of the document do not fail the dry run.
                 *     ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ENDPOINT_UNKNOWN: No endpoint has this id.
                 *     VERSION_UNKNOWN: The endpoint has no version of this number, or no longer, or the version is a deletion.
                 *     MESSAGE_UNKNOWN: The message log has no message with this id, or no longer.
                 *     MESSAGE_BODY_UNKNOWN: This body of the message was not recorded.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description OVERLOADED: Too many messages at once; try again after `Retry-After` seconds.
                 *     SHUTTING_DOWN: The service is stopping; try again after `Retry-After` seconds.
                 */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/dry-run/value": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** One value of the report of a dry run in full, which the report has cut; the dry run is made again. Role operator or author. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DryRun"] & {
                        /** @description The `at` of the value that was cut: a JSON Pointer. */
                        at: string;
                    };
                };
            };
            responses: {
                /** @description A value as JSON, a body as its bytes; at most 32 Mi characters. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": unknown;
                        "application/octet-stream": string;
                    };
                };
                /**
                 * @description DRY_RUN_INVALID: The request of a dry run is wrong; `details` lists every fault. Faults of the document do not fail the dry run.
                 *     ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ENDPOINT_UNKNOWN: No endpoint has this id.
                 *     VERSION_UNKNOWN: The endpoint has no version of this number, or no longer, or the version is a deletion.
                 *     MESSAGE_UNKNOWN: The message log has no message with this id, or no longer.
                 *     MESSAGE_BODY_UNKNOWN: This body of the message was not recorded.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description OVERLOADED: Too many messages at once; try again after `Retry-After` seconds.
                 *     SHUTTING_DOWN: The service is stopping; try again after `Retry-After` seconds.
                 */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/tests/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs tests of a document; nothing is sent, and no state is written. Role author. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TestRun"];
                };
            };
            responses: {
                /** @description The verdict of each test, or the faults of the document. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TestReport"];
                    };
                };
                /**
                 * @description TESTS_INVALID: The tests of a document are wrong; `details` lists every fault.
                 *     ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description DOCUMENT_TOO_LARGE: The endpoint document is larger than `DOCUMENT_LIMIT`; nothing else of it was checked.
                 *     BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`.
                 */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description OVERLOADED: Too many messages at once; try again after `Retry-After` seconds.
                 *     SHUTTING_DOWN: The service is stopping; try again after `Retry-After` seconds.
                 */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/tests": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** The stored tests of an endpoint, with an ETag of their own; without any, an empty list. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The file of tests. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            tests: Record<string, never>[];
                        };
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        /** Stores the tests of an endpoint in place of those before: at most 200, and 1 MiB. Role author. */
        put: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        tests: Record<string, never>[];
                    };
                };
            };
            responses: {
                /** @description The file of tests. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            tests: Record<string, never>[];
                        };
                    };
                };
                /**
                 * @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     TESTS_INVALID: The tests of a document are wrong; `details` lists every fault.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description PRECONDITION_FAILED: `If-Match` names another version of the document than the stored one. */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        post?: never;
        /** Deletes the stored tests of an endpoint. Role author. */
        delete: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description They are deleted. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description PRECONDITION_FAILED: `If-Match` names another version of the document than the stored one. */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Recorded messages, newest first, without bodies and calls. Role viewer. */
        get: {
            parameters: {
                query?: {
                    /** @description Name or id of an endpoint. */
                    endpoint?: string[];
                    /** @description How the message ended. */
                    outcome?: ("done" | "partial" | "refused" | "failed")[];
                    /** @description Code of its failure. */
                    code?: string[];
                    /** @description Stage at which it failed. */
                    stage?: ("recall" | "parse" | "lookup" | "validate" | "transform" | "map" | "extract" | "serialise" | "respond")[];
                    /** @description Path at which it failed, exactly. */
                    path?: string[];
                    /** @description Part of the sentence of its failure. Needs `endpoint`, `code`, `path`, `group`, `id` or `from` beside it. */
                    error?: string[];
                    /** @description Version of its endpoint. Needs `endpoint` or `group` beside it. */
                    version?: number[];
                    /** @description Key of a group of failures. Takes the place of `endpoint`, `stage`, `code` and `path`. */
                    group?: string;
                    /** @description Id of the message; at most 1000. */
                    id?: string[];
                    /** @description How it came. */
                    source?: ("http" | "broker" | "replay")[];
                    /** @description Value of a business key, or its name and value: `patient:123`. */
                    key?: string[];
                    /** @description HTTP status of its answer: `502`, or `5xx`. */
                    status?: string[];
                    /** @description The message that it repeats. */
                    replayOf?: string[];
                    /** @description Of messages that did not end done: whether a replay has. */
                    replayed?: boolean;
                    /** @description Whether a capture recorded it. */
                    captured?: boolean;
                    /** @description ISO 8601, or before now: `-1h`. Inclusive. */
                    from?: string;
                    /** @description ISO 8601, or before now: `-1h`. Exclusive. */
                    to?: string;
                    limit?: number;
                    /** @description `next` of the page before. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            messages: components["schemas"]["ListedMessage"][];
                            next?: string;
                        };
                    };
                };
                /** @description FILTER_INVALID: A query filter is not known, or has a value that it cannot have. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** One message. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its record. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Message"];
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MESSAGE_UNKNOWN: The message log has no message with this id, or no longer. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/body/{which}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                which: string;
            };
            cookie?: never;
        };
        /** A body of a message, as it was: one of those that `bodies` of its record names. Role operator. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    which: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its bytes, in its own type. */
                200: {
                    headers: {
                        /** @description `cut` or `masked`, where it is. */
                        "X-Crosswalk-Body"?: string;
                        /** @description Bytes of the whole body. */
                        "X-Crosswalk-Body-Size"?: number;
                        [name: string]: unknown;
                    };
                    content: {
                        "*/*": unknown;
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description MESSAGE_UNKNOWN: The message log has no message with this id, or no longer.
                 *     MESSAGE_BODY_UNKNOWN: This body of the message was not recorded.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Messages that did not end done, by endpoint, stage, code and path; the largest group first. Role viewer. */
        get: {
            parameters: {
                query?: {
                    /** @description Name or id of an endpoint. */
                    endpoint?: string[];
                    /** @description How the message ended. */
                    outcome?: ("done" | "partial" | "refused" | "failed")[];
                    /** @description Code of its failure. */
                    code?: string[];
                    /** @description Stage at which it failed. */
                    stage?: ("recall" | "parse" | "lookup" | "validate" | "transform" | "map" | "extract" | "serialise" | "respond")[];
                    /** @description Path at which it failed, exactly. */
                    path?: string[];
                    /** @description Part of the sentence of its failure. Needs `endpoint`, `code`, `path`, `group`, `id` or `from` beside it. */
                    error?: string[];
                    /** @description Version of its endpoint. Needs `endpoint` or `group` beside it. */
                    version?: number[];
                    /** @description Key of a group of failures. Takes the place of `endpoint`, `stage`, `code` and `path`. */
                    group?: string;
                    /** @description Id of the message; at most 1000. */
                    id?: string[];
                    /** @description How it came. */
                    source?: ("http" | "broker" | "replay")[];
                    /** @description Value of a business key, or its name and value: `patient:123`. */
                    key?: string[];
                    /** @description HTTP status of its answer: `502`, or `5xx`. */
                    status?: string[];
                    /** @description The message that it repeats. */
                    replayOf?: string[];
                    /** @description Of messages that did not end done: whether a replay has. */
                    replayed?: boolean;
                    /** @description Whether a capture recorded it. */
                    captured?: boolean;
                    /** @description ISO 8601, or before now: `-1h`. Inclusive. */
                    from?: string;
                    /** @description ISO 8601, or before now: `-1h`. Exclusive. */
                    to?: string;
                    /** @description The state with which an operator marked the group. */
                    state?: ("open" | "acknowledged" | "ignored")[];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description At most 1,000 groups. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /**
                             * Format: date-time
                             * @description Start of the first of the 60 `minutes`.
                             */
                            minutesFrom: string;
                            groups: components["schemas"]["FailureGroup"][];
                        };
                    };
                };
                /** @description FILTER_INVALID: A query filter is not known, or has a value that it cannot have. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/groups/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        /** One group. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    key: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The group. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FailureGroup"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description FAILURE_GROUP_UNKNOWN: There is no such group of failures, or the message log has no message of it any more. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        /** Says of a group that it is open, acknowledged or ignored. Role operator. */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    key: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @enum {string} */
                        state: "open" | "acknowledged" | "ignored";
                        note?: string;
                    };
                };
            };
            responses: {
                /** @description The group. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FailureGroup"];
                    };
                };
                /**
                 * @description FAILURE_GROUP_INVALID: The mark of a group of failures is not a state with an optional note.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description FAILURE_GROUP_UNKNOWN: There is no such group of failures, or the message log has no message of it any more. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints/{id}/capture": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        /** The last capture of an endpoint, under way or ended. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The capture; null if the endpoint has none. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Capture"] | null;
                    };
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        /** Starts a capture in place of the one before: the next messages of the endpoint are recorded with all bodies. Role operator. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description How many messages, at most. */
                        messages: number;
                        /**
                         * Format: date-time
                         * @description When it ends at the latest: in an hour by default, at most in 24 hours.
                         */
                        until?: string;
                    };
                };
            };
            responses: {
                /** @description The capture. */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Capture"];
                    };
                };
                /**
                 * @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     CAPTURE_INVALID: A capture cannot have this number of messages, or end at this time.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description ENDPOINT_UNKNOWN: No endpoint has this id. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        /** Ends and forgets the capture of an endpoint; its records stay. Role operator. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is ended. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ENDPOINT_UNKNOWN: No endpoint has this id.
                 *     CAPTURE_UNKNOWN: The endpoint has no capture.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs a message once more, through its endpoint as it is now. Role operator. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            /** @description Takes the place of the body that came. */
            requestBody?: {
                content: {
                    "application/json": unknown;
                    "application/xml": unknown;
                };
            };
            responses: {
                /** @description What became of it. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Replayed"];
                    };
                };
                /**
                 * @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MESSAGE_UNKNOWN: The message log has no message with this id, or no longer. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_REFUSED: The message cannot be replayed: it was not recorded whole, or its endpoint no longer accepts it. */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description OVERLOADED: Too many messages at once; try again after `Retry-After` seconds.
                 *     SHUTTING_DOWN: The service is stopping; try again after `Retry-After` seconds.
                 */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The plans of replays, newest first. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The plans. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            plans: components["schemas"]["ReplayPlan"][];
                        };
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        /** Plans to replay all messages of a filter. Without `outcome`: those that did not end done. Role operator. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @description Name or id of an endpoint. */
                        endpoint?: string | string[];
                        /** @description How the message ended. */
                        outcome?: ("done" | "partial" | "refused" | "failed") | ("done" | "partial" | "refused" | "failed")[];
                        /** @description Code of its failure. */
                        code?: string | string[];
                        /** @description Stage at which it failed. */
                        stage?: ("recall" | "parse" | "lookup" | "validate" | "transform" | "map" | "extract" | "serialise" | "respond") | ("recall" | "parse" | "lookup" | "validate" | "transform" | "map" | "extract" | "serialise" | "respond")[];
                        /** @description Path at which it failed, exactly. */
                        path?: string | string[];
                        /** @description Part of the sentence of its failure. Needs `endpoint`, `code`, `path`, `group`, `id` or `from` beside it. */
                        error?: string | string[];
                        /** @description Version of its endpoint. Needs `endpoint` or `group` beside it. */
                        version?: number | number[];
                        /** @description Key of a group of failures. Takes the place of `endpoint`, `stage`, `code` and `path`. */
                        group?: string;
                        /** @description Id of the message; at most 1000. */
                        id?: string | string[];
                        /** @description How it came. */
                        source?: ("http" | "broker" | "replay") | ("http" | "broker" | "replay")[];
                        /** @description Value of a business key, or its name and value: `patient:123`. */
                        key?: string | string[];
                        /** @description HTTP status of its answer: `502`, or `5xx`. */
                        status?: string | string[];
                        /** @description The message that it repeats. */
                        replayOf?: string | string[];
                        /** @description Of messages that did not end done: whether a replay has. */
                        replayed?: boolean;
                        /** @description Whether a capture recorded it. */
                        captured?: boolean;
                        /** @description ISO 8601, or before now: `-1h`. Inclusive. */
                        from?: string;
                        /** @description ISO 8601, or before now: `-1h`. Exclusive. */
                        to?: string;
                    };
                };
            };
            responses: {
                /** @description The plan. */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReplayPlan"];
                    };
                };
                /**
                 * @description FILTER_INVALID: A query filter is not known, or has a value that it cannot have.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_BUSY: The plan of a replay is running, or has ended; or too many plans are running. */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/replay/{plan}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plan: string;
            };
            cookie?: never;
        };
        /** A plan, and how far it came. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    plan: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The plan. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReplayPlan"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_UNKNOWN: There is no such plan of a replay, or no longer. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/replay/{plan}/run": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plan: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts a plan that is planned or paused. Role operator. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    plan: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["RunLimits"];
                };
            };
            responses: {
                /** @description The plan. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReplayPlan"];
                    };
                };
                /**
                 * @description REPLAY_OPTION_INVALID: A limit of a replay is not known, or has a value that it cannot have.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_UNKNOWN: There is no such plan of a replay, or no longer. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_BUSY: The plan of a replay is running, or has ended; or too many plans are running. */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/replay/{plan}/continue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plan: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Goes on with a run that waits after its first messages. Role operator. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    plan: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": unknown;
                };
            };
            responses: {
                /** @description The plan. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReplayPlan"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_UNKNOWN: There is no such plan of a replay, or no longer. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_BUSY: The plan of a replay is running, or has ended; or too many plans are running. */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/replay/{plan}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plan: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts no further message of a plan until it is run again. Role operator. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    plan: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": unknown;
                };
            };
            responses: {
                /** @description The plan. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReplayPlan"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_UNKNOWN: There is no such plan of a replay, or no longer. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_BUSY: The plan of a replay is running, or has ended; or too many plans are running. */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/replay/{plan}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plan: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts no further message of a plan. Role operator. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    plan: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": unknown;
                };
            };
            responses: {
                /** @description The plan. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReplayPlan"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_UNKNOWN: There is no such plan of a replay, or no longer. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description REPLAY_PLAN_BUSY: The plan of a replay is running, or has ended; or too many plans are running. */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a test of its endpoint from a recorded message, and runs it. Role operator. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @description Of the test; by default the id of the message. */
                        name?: string;
                        /** @description Whether texts, digits and dates are replaced by others of the same form. */
                        pseudonymise?: boolean;
                    };
                };
            };
            responses: {
                /** @description The test, what of the message it cannot have, and its result with the active document. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            endpointId: string;
                            /** @description For the array `tests` of a file of tests. */
                            test: Record<string, never>;
                            notReproduced: {
                                path: string;
                                reason: string;
                            }[];
                            /** @description Left out if the endpoint is deleted. */
                            result?: Record<string, never>;
                        };
                    };
                };
                /**
                 * @description ID_MALFORMED: The id is not 24 lower-case hexadecimal digits.
                 *     TESTS_INVALID: The tests of a document are wrong; `details` lists every fault.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ENDPOINT_UNKNOWN: No endpoint has this id.
                 *     MESSAGE_UNKNOWN: The message log has no message with this id, or no longer.
                 *     MESSAGE_BODY_UNKNOWN: This body of the message was not recorded.
                 */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All API keys, oldest first, revoked ones too; never the keys themselves. Role admin. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The keys. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            keys: components["schemas"]["Key"][];
                        };
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        /** Makes an API key; the answer is the only place where it is shown. Role admin. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                        roles: components["schemas"]["Role"][];
                        /** Format: date-time */
                        expiresAt?: string;
                    };
                };
            };
            responses: {
                /** @description The key. */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Key"] & {
                            key: string;
                        };
                    };
                };
                /**
                 * @description KEY_INVALID: An API key cannot be made with this name or these roles.
                 *     BODY_UNREADABLE: The body is not well-formed in the input format.
                 */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description BODY_TOO_LARGE: The body is larger than `PARSER_LIMIT`, or has more names than `PARSER_MAX_NAMES` or `PARSER_MAX_NAMES_PER_OBJECT` allow; that of a batch is larger than `BATCH_LIMIT`. */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description MEDIA_TYPE_WRONG: The media type, charset or content coding of the body is not what the endpoint takes. */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes an API key, at once. Role admin. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is revoked. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description KEY_UNKNOWN: No API key has this id, or it is revoked already. */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who managed what, newest first. Role admin. */
        get: {
            parameters: {
                query?: {
                    /** @description `who` or `name` of an entry. */
                    who?: string[];
                    /** @description `what` or `target` of an entry. */
                    what?: string[];
                    /** @description ISO 8601, or before now: `-1h`. Inclusive. */
                    from?: string;
                    /** @description ISO 8601, or before now: `-1h`. Exclusive. */
                    to?: string;
                    /** @description Entries of a page. */
                    limit?: number;
                    /** @description `next` of the page before. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            entries: components["schemas"]["AuditEntry"][];
                            next?: string;
                        };
                    };
                };
                /** @description FILTER_INVALID: A query filter is not known, or has a value that it cannot have. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who the caller is, what it may do, and where messages are sent to. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The caller. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Me"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process runs. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It does. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether messages can be answered now. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description They can. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description They cannot. */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics in the text format of Prometheus. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Metrics. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/consumers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the consumer of each endpoint with a topic is doing. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description State, lag and last error of each. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Consumer"][];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the messages of all endpoints went in the last hour and day, of deleted ones too. Role viewer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The counts of all instances. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Totals"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happens in the service, as server-sent events; does not end by itself. Role viewer. */
        get: {
            parameters: {
                query?: {
                    /** @description Types with commas between them: messages, failures, replay, endpoints, status; all of them unless given. */
                    types?: string;
                };
                header?: {
                    /** @description Of the last event before a connection was lost: the event `reset` follows. */
                    "Last-Event-ID"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events until the caller closes the connection. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": unknown;
                    };
                };
                /** @description FILTER_INVALID: A query filter is not known, or has a value that it cannot have. */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description CREDENTIALS_REFUSED: Credentials are missing, malformed, unknown, revoked or out of date; `WWW-Authenticate` says which are asked for. */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /**
                 * @description ACCESS_DENIED: The credentials are good, but do not allow this.
                 *     MANAGEMENT_REFUSED: The service is managed from this machine only, until there is an API key or `MANAGEMENT_AUTH` is set; or a web page or an endpoint may have made the call.
                 */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
                /** @description EVENT_STREAMS_TOO_MANY: As many event streams as the service allows are read already, and no caller has more of them than this one. */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failure"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The whole endpoint. */
        Endpoint: {
            /**
             * @description Unique name of the endpoint.
             * @example Patient intake
             */
            name: string;
            /**
             * @description Purpose of the endpoint.
             * @example Turns intake forms into Patients.
             */
            description?: string;
            /**
             * @description Name → value, for people and tools: no message sees them.
             * @default {}
             * @example {
             *       "team": "lab"
             *     }
             */
            labels?: {
                [key: string]: string;
            };
            /** @description The route. */
            endpoint: {
                /** @description Ignored. */
                endpoint?: unknown;
                /** @description Ignored. */
                methods?: unknown;
                /**
                 * @description Path of the endpoint: segments of URI-safe characters or `:parameter` (letters, digits, `_`, `-`); a `/` at its end makes no difference.
                 * @example /patients/:id
                 */
                pattern: string;
                /**
                 * @description Method of the endpoint.
                 * @default POST
                 * @example POST
                 * @enum {unknown}
                 */
                method?: "GET" | "POST" | "PUT" | "DELETE";
            };
            /** @description How callers authenticate; of several methods, one is enough. Records of topics and replays need none. */
            auth?: {
                /** @description An API key in a header. */
                apiKey?: {
                    /**
                     * @description The header with the key.
                     * @example X-Lab-Key
                     */
                    header?: string;
                    /**
                     * @description The accepted keys, each a reference such as `${env:CROSSWALK_SECRET_…}`.
                     * @example [
                     *       "${env:CROSSWALK_SECRET_LAB}"
                     *     ]
                     */
                    keys: string[];
                };
                /** @description User and password (RFC 7617). */
                basic?: {
                    /**
                     * @description User → password, a reference such as `${env:CROSSWALK_SECRET_…}`.
                     * @example {
                     *       "lab": "${env:CROSSWALK_SECRET_LAB}"
                     *     }
                     */
                    users: {
                        [key: string]: string;
                    };
                };
                /** @description A JSON Web Token, as `Authorization: Bearer …`. */
                jwt?: {
                    /**
                     * @description The required `iss` of a token.
                     * @example https://id.example.org/
                     */
                    issuer?: string;
                    /**
                     * @description The required `aud` of a token.
                     * @example crosswalk
                     */
                    audience?: string;
                    /**
                     * @description URL of the public keys of the issuer.
                     * @example https://id.example.org/.well-known/jwks.json
                     */
                    jwksUrl?: string;
                    /**
                     * @description The secret shared with the issuer, instead of `jwksUrl`: a reference such as `${env:CROSSWALK_SECRET_…}`.
                     * @example ${env:CROSSWALK_SECRET_TOKENS}
                     */
                    secret?: string;
                    /**
                     * @description Scopes (`scope` or `scp`), all of which a token must have.
                     * @example [
                     *       "orders.write"
                     *     ]
                     */
                    scopes?: string[];
                };
            };
            /** @description Bounds the messages of the endpoint that are in flight or wait; one more is answered with 503 and `Retry-After`. Records of topics do not count. */
            limits?: {
                /**
                 * @description How many messages of the endpoint may be in flight at once.
                 * @example 20
                 */
                concurrency?: number;
                /**
                 * @description How many more may wait, each at most `MESSAGE_WAIT_MS`.
                 * @example 5
                 */
                queue?: number;
            };
            /** @description How many messages the endpoint accepts in a period; one more is answered with 429 and `Retry-After`. Records of topics and replays do not count. */
            rateLimit?: {
                /**
                 * @description How many messages are accepted in `seconds`.
                 * @example 100
                 */
                messages: number;
                /**
                 * @description The length of the period.
                 * @default 1
                 * @example 60
                 */
                seconds?: number;
                /**
                 * @description How many are accepted at once after a pause.
                 * @example 10
                 */
                burst?: number;
            };
            /** @description A message with the header `Idempotency-Key` is processed once: its response is stored, and replayed to later messages with the same key. For POST only; not for records of topics and replays. */
            idempotency?: {
                /**
                 * @description Whether a message without the header is refused.
                 * @example true
                 */
                required?: boolean;
                /**
                 * @description How many hours a response is stored and replayed.
                 * @example 72
                 */
                hours?: number;
            };
            /** @description The formats of the messages. */
            transformation: {
                /**
                 * @description Format of incoming messages; required for POST and PUT.
                 * @example JSON
                 * @enum {unknown}
                 */
                input?: "JSON" | "XML" | "FHIR+JSON" | "JSON+OPENHIM";
                /**
                 * @description Format of the outgoing message and of the answer.
                 * @example FHIR+JSON
                 * @enum {unknown}
                 */
                output: "JSON" | "XML" | "FHIR+JSON" | "JSON+OPENHIM";
            };
            /**
             * @description Body of failures: the fields of the service in the output type (`plain`), or a FHIR R4 OperationOutcome (`fhir`).
             * @example plain
             * @enum {unknown}
             */
            failures?: "plain" | "fhir";
            /**
             * @description Topic that the endpoint also consumes.
             * @example intake
             */
            kafkaConsumerTopic?: string;
            /**
             * @description Where consuming starts as long as the endpoint has committed nothing of the topic: at the earliest record, behind the last one, or where that consumer group has committed.
             * @example group:former-service
             */
            kafkaConsumerStart?: string;
            /** @description How the records of `kafkaConsumerTopic` run; only together with it. */
            kafka?: {
                /**
                 * @description Which records of a partition run one after the other: all of them, those of one key (and those without a key, together), or none.
                 * @example key
                 * @enum {unknown}
                 */
                order?: "partition" | "key" | "none";
                /**
                 * @description How many records of the endpoint may be started and not yet committed in one instance.
                 * @example 500
                 */
                inFlight?: number;
                /**
                 * @description Whether what is produced for a record and the offset of the record are committed in one Kafka transaction. For endpoints that only go from topic to topic.
                 * @example true
                 */
                exactlyOnce?: boolean;
            };
            /**
             * @description What the message log stores of each message, instead of `MESSAGE_LOG`: nothing, its record, its record with the bodies if the outcome is not `done`, or always with the bodies.
             * @example all
             * @enum {unknown}
             */
            messageLog?: "off" | "metadata" | "failures" | "all";
            /**
             * @description Name → path of a value by which the record of a message can be found; at most 10 values for each message, of 200 characters.
             * @example {
             *       "patient": "requestBody.patient.id"
             *     }
             */
            messageKeys?: {
                [key: string]: string;
            };
            /**
             * @description Source path → target, applied in the given order; without entries the body is passed on.
             * @default {}
             * @example {
             *       "requestBody.name": "name[0].text"
             *     }
             */
            inputMapping?: Record<string, never>;
            /**
             * @description Any JSON values, read as `constants.<name>`.
             * @default {}
             * @example {
             *       "system": "http://loinc.org"
             *     }
             */
            constants?: Record<string, never>;
            /**
             * @description Name → JSONata expression, evaluated in the given order; each can read the ones before it.
             * @example {
             *       "total": "$sum(requestBody.lines.amount)"
             *     }
             */
            inputTransforms?: {
                [key: string]: string;
            };
            /**
             * @description JSON Schema (draft-07 or 2020-12) that the message must satisfy.
             * @example {
             *       "required": [
             *         "name"
             *       ]
             *     }
             */
            inputValidation?: Record<string, never>;
            /**
             * @description The requests to other services.
             * @default {
             *       "lookup": [],
             *       "response": []
             *     }
             */
            requests?: {
                /** @description Ignored. */
                _id?: unknown;
                lookup?: {
                    /** @description Ignored. */
                    _id?: unknown;
                    /** @description Ignored. */
                    extract?: unknown;
                    /**
                     * @description Name of the request, unique among the lookup requests.
                     * @example patient
                     */
                    id: string;
                    /** @description The HTTP request to make. */
                    config: {
                        /**
                         * @description Method of the request, in any case.
                         * @default GET
                         * @example GET
                         */
                        method?: unknown;
                        /**
                         * @description Absolute http or https URL; `:name` in its path or query is a placeholder where `params.url` defines the name.
                         * @example https://fhir.example.org/Patient/:id
                         */
                        url: string;
                        /**
                         * @description Headers of the request; a number is sent as its text.
                         * @example {
                         *       "Accept": "application/fhir+json"
                         *     }
                         */
                        headers?: {
                            [key: string]: string | number;
                        };
                        params?: {
                            /**
                             * @description Query parameters by name; a parameter whose path finds nothing is left out.
                             * @example {
                             *       "_id": {
                             *         "path": "urlParams.id"
                             *       }
                             *     }
                             */
                            query?: {
                                [key: string]: {
                                    /** @description Ignored. */
                                    label?: unknown;
                                    /**
                                     * @description Path of the value in the message.
                                     * @example payload.patient.id
                                     */
                                    path: string;
                                    prefix?: string | unknown;
                                    postfix?: string | unknown;
                                };
                            };
                            /**
                             * @description Values for the `:name` placeholders of the URL; if a path finds nothing, the message is answered with 400.
                             * @example {
                             *       "id": {
                             *         "path": "payload.id",
                             *         "prefix": "p-"
                             *       }
                             *     }
                             */
                            url?: {
                                [key: string]: {
                                    /** @description Ignored. */
                                    label?: unknown;
                                    /**
                                     * @description Path of the value in the message.
                                     * @example payload.patient.id
                                     */
                                    path: string;
                                    prefix?: string | unknown;
                                    postfix?: string | unknown;
                                };
                            };
                        } | Record<string, never>;
                        /**
                         * @description How many redirects in a row are followed; headers that may be credentials do not go to another origin.
                         * @example 3
                         */
                        followRedirects?: number;
                    };
                    /**
                     * @description Sends the incoming body, or with `forEach` the current item, as the body of the request.
                     * @example true
                     */
                    forwardExistingRequestBody?: boolean;
                    forEach?: {
                        /**
                         * @description Path of the array in the message.
                         * @example payload.entry
                         */
                        items: string;
                        /**
                         * @description The most calls of this request that are in flight at once.
                         * @example 4
                         */
                        concurrency?: number | string;
                    } | Record<string, never>;
                    allowedStatuses?: (string | number)[] | never[];
                    /**
                     * @description Milliseconds that the request may take in all, including retries.
                     * @example 5000
                     */
                    timeoutMs?: number;
                    /**
                     * @description Further attempts after a network error, a 502, 503 or 504, or a 429 with `Retry-After`; for idempotent requests only.
                     * @example 2
                     */
                    retries?: number;
                    /**
                     * @description Whether the request may be repeated without harm, whatever its method, so that it may be retried.
                     * @example true
                     */
                    idempotent?: boolean;
                    /**
                     * @description Lets the message continue if this request fails.
                     * @example true
                     */
                    optional?: boolean;
                    /**
                     * @description Replaces the answer of an `optional` request that failed: any JSON value.
                     * @example {
                     *       "status": "unknown"
                     *     }
                     */
                    default?: unknown;
                    /**
                     * @description Answers a failure of this lookup as a FHIR R4 OperationOutcome, unless `failures` is `plain`.
                     * @example true
                     */
                    fhirResponse?: boolean;
                }[] | {
                    /** @description Ignored. */
                    _id?: unknown;
                    /** @description Ignored. */
                    extract?: unknown;
                    /**
                     * @description Name of the request, unique among the lookup requests.
                     * @example patient
                     */
                    id: string;
                    /** @description The HTTP request to make. */
                    config: {
                        /**
                         * @description Method of the request, in any case.
                         * @default GET
                         * @example GET
                         */
                        method?: unknown;
                        /**
                         * @description Absolute http or https URL; `:name` in its path or query is a placeholder where `params.url` defines the name.
                         * @example https://fhir.example.org/Patient/:id
                         */
                        url: string;
                        /**
                         * @description Headers of the request; a number is sent as its text.
                         * @example {
                         *       "Accept": "application/fhir+json"
                         *     }
                         */
                        headers?: {
                            [key: string]: string | number;
                        };
                        params?: {
                            /**
                             * @description Query parameters by name; a parameter whose path finds nothing is left out.
                             * @example {
                             *       "_id": {
                             *         "path": "urlParams.id"
                             *       }
                             *     }
                             */
                            query?: {
                                [key: string]: {
                                    /** @description Ignored. */
                                    label?: unknown;
                                    /**
                                     * @description Path of the value in the message.
                                     * @example payload.patient.id
                                     */
                                    path: string;
                                    prefix?: string | unknown;
                                    postfix?: string | unknown;
                                };
                            };
                            /**
                             * @description Values for the `:name` placeholders of the URL; if a path finds nothing, the message is answered with 400.
                             * @example {
                             *       "id": {
                             *         "path": "payload.id",
                             *         "prefix": "p-"
                             *       }
                             *     }
                             */
                            url?: {
                                [key: string]: {
                                    /** @description Ignored. */
                                    label?: unknown;
                                    /**
                                     * @description Path of the value in the message.
                                     * @example payload.patient.id
                                     */
                                    path: string;
                                    prefix?: string | unknown;
                                    postfix?: string | unknown;
                                };
                            };
                        } | Record<string, never>;
                        /**
                         * @description How many redirects in a row are followed; headers that may be credentials do not go to another origin.
                         * @example 3
                         */
                        followRedirects?: number;
                    };
                    /**
                     * @description Sends the incoming body, or with `forEach` the current item, as the body of the request.
                     * @example true
                     */
                    forwardExistingRequestBody?: boolean;
                    forEach?: {
                        /**
                         * @description Path of the array in the message.
                         * @example payload.entry
                         */
                        items: string;
                        /**
                         * @description The most calls of this request that are in flight at once.
                         * @example 4
                         */
                        concurrency?: number | string;
                    } | Record<string, never>;
                    allowedStatuses?: (string | number)[] | never[];
                    /**
                     * @description Milliseconds that the request may take in all, including retries.
                     * @example 5000
                     */
                    timeoutMs?: number;
                    /**
                     * @description Further attempts after a network error, a 502, 503 or 504, or a 429 with `Retry-After`; for idempotent requests only.
                     * @example 2
                     */
                    retries?: number;
                    /**
                     * @description Whether the request may be repeated without harm, whatever its method, so that it may be retried.
                     * @example true
                     */
                    idempotent?: boolean;
                    /**
                     * @description Lets the message continue if this request fails.
                     * @example true
                     */
                    optional?: boolean;
                    /**
                     * @description Replaces the answer of an `optional` request that failed: any JSON value.
                     * @example {
                     *       "status": "unknown"
                     *     }
                     */
                    default?: unknown;
                    /**
                     * @description Answers a failure of this lookup as a FHIR R4 OperationOutcome, unless `failures` is `plain`.
                     * @example true
                     */
                    fhirResponse?: boolean;
                };
                response?: {
                    /** @description Ignored. */
                    _id?: unknown;
                    /** @description Ignored. */
                    extract?: unknown;
                    /** @description Ignored. */
                    forwardExistingRequestBody?: unknown;
                    /**
                     * @description Name of the request, unique among the response requests.
                     * @example patient
                     */
                    id: string;
                    /** @description The HTTP request to make; required without `kafkaProducerTopic`. */
                    config?: {
                        /**
                         * @description Method of the request, in any case.
                         * @default POST
                         * @example POST
                         */
                        method?: unknown;
                        /**
                         * @description Absolute http or https URL; `:name` in its path or query is a placeholder where `params.url` defines the name.
                         * @example https://fhir.example.org/Patient/:id
                         */
                        url?: string;
                        /**
                         * @description Headers of the request; a number is sent as its text.
                         * @example {
                         *       "Accept": "application/fhir+json"
                         *     }
                         */
                        headers?: {
                            [key: string]: string | number;
                        };
                        params?: {
                            /**
                             * @description Query parameters by name; a parameter whose path finds nothing is left out.
                             * @example {
                             *       "_id": {
                             *         "path": "urlParams.id"
                             *       }
                             *     }
                             */
                            query?: {
                                [key: string]: {
                                    /** @description Ignored. */
                                    label?: unknown;
                                    /**
                                     * @description Path of the value in the message.
                                     * @example payload.patient.id
                                     */
                                    path: string;
                                    prefix?: string | unknown;
                                    postfix?: string | unknown;
                                };
                            };
                            /**
                             * @description Values for the `:name` placeholders of the URL; if a path finds nothing, the message is answered with 400.
                             * @example {
                             *       "id": {
                             *         "path": "payload.id",
                             *         "prefix": "p-"
                             *       }
                             *     }
                             */
                            url?: {
                                [key: string]: {
                                    /** @description Ignored. */
                                    label?: unknown;
                                    /**
                                     * @description Path of the value in the message.
                                     * @example payload.patient.id
                                     */
                                    path: string;
                                    prefix?: string | unknown;
                                    postfix?: string | unknown;
                                };
                            };
                        } | Record<string, never>;
                        /**
                         * @description How many redirects in a row are followed; headers that may be credentials do not go to another origin.
                         * @example 3
                         */
                        followRedirects?: number;
                        /**
                         * @description Returns the answer of this request alone.
                         * @example true
                         */
                        primary?: boolean;
                    };
                    /**
                     * @description The same as `config.primary`.
                     * @example true
                     */
                    primary?: boolean;
                    /**
                     * @description Topic to which the output is produced, instead of calling a URL.
                     * @example patients
                     */
                    kafkaProducerTopic?: string;
                    /** @description Key of the record, for `kafkaProducerTopic`: records with the same key stay in order. If the path finds nothing, the record has no key. */
                    key?: {
                        /**
                         * @description Path of the key in the message.
                         * @example payload.patient.id
                         */
                        path: string;
                        prefix?: string | unknown;
                        postfix?: string | unknown;
                    };
                    forEach?: {
                        /**
                         * @description Path of the array in the message.
                         * @example payload.entry
                         */
                        items: string;
                        /**
                         * @description The most calls of this request that are in flight at once.
                         * @example 4
                         */
                        concurrency?: number | string;
                    } | Record<string, never>;
                    allowedStatuses?: (string | number)[] | never[];
                    /**
                     * @description Milliseconds that the request may take in all, including retries.
                     * @example 5000
                     */
                    timeoutMs?: number;
                    /**
                     * @description Further attempts after a network error, a 502, 503 or 504, or a 429 with `Retry-After`; for idempotent requests only.
                     * @example 2
                     */
                    retries?: number;
                    /**
                     * @description Whether the request may be repeated without harm, whatever its method, so that it may be retried.
                     * @example true
                     */
                    idempotent?: boolean;
                    /**
                     * @description Lets the message continue if this request fails.
                     * @example true
                     */
                    optional?: boolean;
                    /**
                     * @description Replaces the answer of an `optional` request that failed: any JSON value.
                     * @example {
                     *       "status": "unknown"
                     *     }
                     */
                    default?: unknown;
                }[] | {
                    /** @description Ignored. */
                    _id?: unknown;
                    /** @description Ignored. */
                    extract?: unknown;
                    /** @description Ignored. */
                    forwardExistingRequestBody?: unknown;
                    /**
                     * @description Name of the request, unique among the response requests.
                     * @example patient
                     */
                    id: string;
                    /** @description The HTTP request to make; required without `kafkaProducerTopic`. */
                    config?: {
                        /**
                         * @description Method of the request, in any case.
                         * @default POST
                         * @example POST
                         */
                        method?: unknown;
                        /**
                         * @description Absolute http or https URL; `:name` in its path or query is a placeholder where `params.url` defines the name.
                         * @example https://fhir.example.org/Patient/:id
                         */
                        url?: string;
                        /**
                         * @description Headers of the request; a number is sent as its text.
                         * @example {
                         *       "Accept": "application/fhir+json"
                         *     }
                         */
                        headers?: {
                            [key: string]: string | number;
                        };
                        params?: {
                            /**
                             * @description Query parameters by name; a parameter whose path finds nothing is left out.
                             * @example {
                             *       "_id": {
                             *         "path": "urlParams.id"
                             *       }
                             *     }
                             */
                            query?: {
                                [key: string]: {
                                    /** @description Ignored. */
                                    label?: unknown;
                                    /**
                                     * @description Path of the value in the message.
                                     * @example payload.patient.id
                                     */
                                    path: string;
                                    prefix?: string | unknown;
                                    postfix?: string | unknown;
                                };
                            };
                            /**
                             * @description Values for the `:name` placeholders of the URL; if a path finds nothing, the message is answered with 400.
                             * @example {
                             *       "id": {
                             *         "path": "payload.id",
                             *         "prefix": "p-"
                             *       }
                             *     }
                             */
                            url?: {
                                [key: string]: {
                                    /** @description Ignored. */
                                    label?: unknown;
                                    /**
                                     * @description Path of the value in the message.
                                     * @example payload.patient.id
                                     */
                                    path: string;
                                    prefix?: string | unknown;
                                    postfix?: string | unknown;
                                };
                            };
                        } | Record<string, never>;
                        /**
                         * @description How many redirects in a row are followed; headers that may be credentials do not go to another origin.
                         * @example 3
                         */
                        followRedirects?: number;
                        /**
                         * @description Returns the answer of this request alone.
                         * @example true
                         */
                        primary?: boolean;
                    };
                    /**
                     * @description The same as `config.primary`.
                     * @example true
                     */
                    primary?: boolean;
                    /**
                     * @description Topic to which the output is produced, instead of calling a URL.
                     * @example patients
                     */
                    kafkaProducerTopic?: string;
                    /** @description Key of the record, for `kafkaProducerTopic`: records with the same key stay in order. If the path finds nothing, the record has no key. */
                    key?: {
                        /**
                         * @description Path of the key in the message.
                         * @example payload.patient.id
                         */
                        path: string;
                        prefix?: string | unknown;
                        postfix?: string | unknown;
                    };
                    forEach?: {
                        /**
                         * @description Path of the array in the message.
                         * @example payload.entry
                         */
                        items: string;
                        /**
                         * @description The most calls of this request that are in flight at once.
                         * @example 4
                         */
                        concurrency?: number | string;
                    } | Record<string, never>;
                    allowedStatuses?: (string | number)[] | never[];
                    /**
                     * @description Milliseconds that the request may take in all, including retries.
                     * @example 5000
                     */
                    timeoutMs?: number;
                    /**
                     * @description Further attempts after a network error, a 502, 503 or 504, or a 429 with `Retry-After`; for idempotent requests only.
                     * @example 2
                     */
                    retries?: number;
                    /**
                     * @description Whether the request may be repeated without harm, whatever its method, so that it may be retried.
                     * @example true
                     */
                    idempotent?: boolean;
                    /**
                     * @description Lets the message continue if this request fails.
                     * @example true
                     */
                    optional?: boolean;
                    /**
                     * @description Replaces the answer of an `optional` request that failed: any JSON value.
                     * @example {
                     *       "status": "unknown"
                     *     }
                     */
                    default?: unknown;
                };
            };
            /**
             * @description Values that are stored from one message to the next.
             * @default {
             *       "config": {
             *         "networkErrors": "no-filter",
             *         "includeStatuses": []
             *       }
             *     }
             */
            state?: {
                /** @description The values that a message leaves for the next one, which reads them under `state`. */
                extract?: {
                    /** @description Ignored. */
                    system?: unknown;
                    /**
                     * @description Name → path in the parsed body.
                     * @example {
                     *       "lastId": "patient.id"
                     *     }
                     */
                    requestBody?: {
                        [key: string]: string;
                    };
                    /**
                     * @description Name → path in the mapped output.
                     * @example {
                     *       "total": "total"
                     *     }
                     */
                    responseBody?: {
                        [key: string]: string;
                    };
                    /**
                     * @description Name → path in the query of the request.
                     * @example {
                     *       "page": "page"
                     *     }
                     */
                    query?: {
                        [key: string]: string;
                    };
                    /**
                     * @description Lookup id → name → path in the data of that lookup.
                     * @example {
                     *       "patients": {
                     *         "next": "link[0].url"
                     *       }
                     *     }
                     */
                    lookupRequests?: {
                        [key: string]: {
                            [key: string]: string;
                        };
                    };
                };
                /**
                 * @description Which of the stored states the next message reads.
                 * @default {
                 *       "networkErrors": "no-filter",
                 *       "includeStatuses": []
                 *     }
                 */
                config?: {
                    /**
                     * @description States of messages with a network error in a lookup: `exclude` skips them, `include` takes only them.
                     * @default no-filter
                     * @example exclude
                     * @enum {unknown}
                     */
                    networkErrors?: "no-filter" | "include" | "exclude";
                    /**
                     * @description Takes only states whose highest lookup status is one of these; empty takes all.
                     * @default []
                     * @example [
                     *       "2xx"
                     *     ]
                     */
                    includeStatuses?: (string | number)[];
                };
            };
            readonly _id?: string;
            /** Format: date-time */
            readonly createdAt?: string;
            /** Format: date-time */
            readonly updatedAt?: string;
            /** @constant */
            readonly __v?: 0;
        };
        FailureDetail: {
            /** @description In a batch: the index of the operation. */
            operation?: number;
            /** @description In a batch: the code of this fault. */
            code?: string;
            path?: string;
            message?: string;
        };
        Failure: {
            error: string;
            code: string;
            details?: components["schemas"]["FailureDetail"][];
        };
        /** @enum {unknown} */
        Role: "viewer" | "operator" | "author" | "admin";
        Key: {
            id: string;
            name: string;
            roles: components["schemas"]["Role"][];
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt?: string;
            /** Format: date-time */
            revokedAt?: string;
        };
        AuditEntry: {
            id: string;
            /** Format: date-time */
            at: string;
            /** @description `key:<id>`, `token:<subject>`, `command:<user>`, `local`, `anyone` or `unknown`. */
            who: string;
            /** @description Method and route, or the command. */
            what: string;
            status: number;
            name?: string;
            address?: string;
            /** @description Id of what was called on or made. */
            target?: string;
            before?: number;
            /** @description Version of the endpoint after the change. */
            after?: number;
            /** @description What the caller said about its change. */
            note?: string;
            code?: string;
            /** @description Refused calls before this one of which nothing was kept. */
            omitted?: number;
        };
        Me: {
            /** @description `key:<id>`, `token:<subject>`, `local` or `anyone`. */
            who: string;
            roles: components["schemas"]["Role"][];
            /** @description The roles with those that they include. */
            may: components["schemas"]["Role"][];
            /**
             * @description How the caller was identified.
             * @enum {string}
             */
            mode: "open" | "keys" | "oidc";
            /** @description URL of the message port, such as `http://10.0.0.7:3003`: `PUBLIC_URL` if it is set, otherwise the address of the port itself, with the name of the admin port if `HOST` is every address. */
            messageOrigin: string;
            name?: string;
        };
        Test: {
            name: string;
            source?: Record<string, never>;
            given?: {
                message?: {
                    /** @description A text is sent as it is, any other value as JSON. */
                    body?: unknown;
                    contentType?: string;
                    headers?: {
                        [key: string]: string;
                    };
                    query?: Record<string, never>;
                    urlParams?: {
                        [key: string]: string;
                    };
                };
                /** @description Answers by the id of the lookup; an array has one for each item of a forEach. */
                lookups?: Record<string, never>;
                /** @description Answers by the id of the response request. */
                responses?: Record<string, never>;
                state?: Record<string, never>;
                /** Format: date-time */
                now?: string;
                secrets?: {
                    [key: string]: string;
                };
            };
            expect?: {
                outcome?: unknown;
                answer?: {
                    status?: unknown;
                    headers?: Record<string, never>;
                    body?: unknown;
                };
                calls?: unknown;
                failure?: unknown;
                transforms?: Record<string, never>;
                mapped?: unknown;
                state?: Record<string, never>;
                snapshot?: boolean;
                todo?: boolean;
            };
            steps?: {
                given?: {
                    message?: {
                        /** @description A text is sent as it is, any other value as JSON. */
                        body?: unknown;
                        contentType?: string;
                        headers?: {
                            [key: string]: string;
                        };
                        query?: Record<string, never>;
                        urlParams?: {
                            [key: string]: string;
                        };
                    };
                    /** @description Answers by the id of the lookup; an array has one for each item of a forEach. */
                    lookups?: Record<string, never>;
                    /** @description Answers by the id of the response request. */
                    responses?: Record<string, never>;
                    state?: Record<string, never>;
                    /** Format: date-time */
                    now?: string;
                    secrets?: {
                        [key: string]: string;
                    };
                };
                expect?: {
                    outcome?: unknown;
                    answer?: {
                        status?: unknown;
                        headers?: Record<string, never>;
                        body?: unknown;
                    };
                    calls?: unknown;
                    failure?: unknown;
                    transforms?: Record<string, never>;
                    mapped?: unknown;
                    state?: Record<string, never>;
                    snapshot?: boolean;
                    todo?: boolean;
                };
            }[];
            skip?: string;
            publish?: boolean;
        };
        TestFile: {
            tests: components["schemas"]["Test"][];
            /** @description The name of the endpoint, for files that do not stand beside its document. */
            endpoint?: string;
            /** @description JSON Pointers into the body of the answer. */
            ignore?: string[];
        };
        TestRun: {
            endpoint?: components["schemas"]["Endpoint"];
            /** @description Of a stored endpoint. */
            endpointId?: string;
            /** @description A file of tests, or its tests. */
            tests?: components["schemas"]["TestFile"] | components["schemas"]["Test"][];
            /** @description By the names of the tests. */
            snapshots?: Record<string, never>;
            /** @description Whether the report says which parts of the document the tests ran. */
            coverage?: boolean;
            /** @description Whether the report has the snapshots as they would be now. */
            update?: boolean;
        };
        TestReport: {
            /** @description False if the document has errors. */
            ran: boolean;
            passed: number;
            failed: number;
            skipped: number;
            ms: number;
            tests: {
                name: string;
                /** @enum {string} */
                verdict: "passed" | "failed" | "skipped";
                ms: number;
                mismatches: {
                    /** @description JSON Pointer into the test. */
                    path: string;
                    message: string;
                    /** @description Left out if there is nothing. Long values are cut. */
                    expected?: unknown;
                    /** @description Left out if there is nothing. Long values are cut. */
                    actual?: unknown;
                }[];
                reason?: string;
            }[];
            lint: {
                errors: {
                    path: string;
                    message: string;
                }[];
                warnings: {
                    path: string;
                    message: string;
                }[];
            };
            coverage?: {
                total: number;
                percent: number;
                missed: {
                    kind: string;
                    path: string;
                }[];
            };
            /** @description With update: what the tests with a snapshot do now, by their names. */
            snapshots?: Record<string, never>;
        };
        Vocabulary: {
            fields: {
                path: string;
                type?: string;
                description?: string;
                /** @constant */
                required?: true;
                reads?: string;
            }[];
            roots: {
                [key: string]: {
                    when: string;
                    roots: string[];
                };
            };
            mappingFunctions: {
                name: string;
                signature?: string;
                means?: string;
                needsParameters?: boolean;
            }[];
            expressionFunctions: {
                name: string;
                parameters?: string[];
                signature?: string;
            }[];
            failures: {
                code: string;
                status?: number;
                retry?: boolean;
                means?: string;
            }[];
            formats: {
                name: string;
                mediaType: string;
            }[];
            contentTypes?: {
                format: string;
                types: string[];
                suffix?: string;
            }[];
            stages?: string[];
            outcomes?: string[];
            sources?: string[];
            roles?: components["schemas"]["Role"][];
        };
        DraftRequest: {
            name: string;
            pattern: string;
            /**
             * @description Of the messages; by default that of the sample.
             * @enum {string}
             */
            format?: "JSON" | "XML" | "FHIR+JSON" | "JSON+OPENHIM";
            /** @description A message as it is sent. */
            sample?: string;
        };
        EndpointDraft: {
            document: components["schemas"]["Endpoint"];
            /** @description Such as a name that is taken; there is no test then. */
            faults: components["schemas"]["FailureDetail"][];
            /** @description What the document does with the sample. */
            test?: components["schemas"]["Test"];
        };
        SampleBody: {
            /** @description A text is read by its type, any other value is JSON. */
            body?: unknown;
            contentType?: string;
        };
        SuggestRequest: {
            source?: components["schemas"]["SampleBody"] & {
                query?: Record<string, never>;
                urlParams?: Record<string, never>;
                lookups?: {
                    [key: string]: components["schemas"]["SampleBody"] | components["schemas"]["SampleBody"][];
                };
            };
            /** @description A recorded message, instead of source; needs the role operator. */
            messageId?: string;
            target?: {
                /** @description An output as it is meant to be. */
                sample?: unknown;
                contentType?: string;
                /** @description JSON Schema of the output, instead of sample. */
                schema?: Record<string, never>;
            };
            endpoint?: components["schemas"]["Endpoint"];
            /** @description Of a stored endpoint, instead of endpoint. */
            endpointId?: string;
            /** @description Whether the answer lists the fields of the target, too. */
            fields?: boolean;
        };
        Suggestions: {
            suggestions: {
                source: string;
                target: string;
                to: string | {
                    key: string;
                    transform: string;
                };
                score: number;
                reason: string;
            }[];
            /** @description Whether fields were left out. */
            cut: boolean;
            /** @description The scalars of the target; `[]` stands for every element of an array. */
            fields?: {
                path: string;
                types: ("string" | "number" | "boolean")[];
            }[];
            notRead?: {
                part: string;
                reason: string;
            }[];
        };
        CannedAnswer: {
            status?: number;
            headers?: {
                [key: string]: string;
            };
            /** @description A text is sent as it is, any other value as JSON. */
            body?: unknown;
            /** @enum {unknown} */
            fault?: "unreachable" | "timeout" | "too-large" | "unreadable" | "refused";
        };
        DryRun: {
            endpoint?: components["schemas"]["Endpoint"];
            /** @description Of a stored endpoint; beside endpoint, the one it would replace. */
            endpointId?: string;
            /** @description A recorded message, with what other systems answered it; needs the role operator besides. */
            messageId?: string;
            /** @description Of the stored endpoint; recorded is the one that processed the message. By default the active one. */
            version?: number | "recorded";
            /** @description Beside messageId: what comes in place of the recorded parts. */
            message?: {
                /** @description A text is sent as it is, any other value as JSON. */
                body?: unknown;
                contentType?: string;
                headers?: {
                    [key: string]: string;
                };
                query?: Record<string, never>;
                urlParams?: {
                    [key: string]: string;
                };
                /** @description What an earlier message left. */
                state?: Record<string, never>;
            };
            lookups?: {
                [key: string]: components["schemas"]["CannedAnswer"] | components["schemas"]["CannedAnswer"][];
            };
            responses?: {
                [key: string]: components["schemas"]["CannedAnswer"] | components["schemas"]["CannedAnswer"][];
            };
            /** @description Whether lookups without a given answer are made. */
            live?: boolean;
            /**
             * @description The report has fields, and samples of what was written, in place of stages, calls, answer and state.
             * @constant
             */
            view?: "mapping";
            /** @description False: the document is checked, and no message runs. */
            run?: boolean;
            /** @description The most characters of all values of the report together; of one value, an eighth of it. */
            limit?: number;
        };
        DryRunStage: {
            stage: string;
            ms: number;
            /** @description What the stage can read. A value may be { cut, reason, at }. */
            input: Record<string, never>;
            /** @description The message failed in this stage. */
            failed?: boolean;
            /** @description What the stage gave; of a failed one, what it gave before it failed. */
            output?: Record<string, never>;
            coerced?: {
                path: string;
                before: unknown;
                after: unknown;
            }[];
            coercedNotShown?: number;
            coercedUnknown?: string;
        };
        MappingReport: {
            entries?: {
                /** @description Of the entry in the document. */
                path: string;
                source: string;
                /** @description Whether the path gave a value. */
                found: boolean;
                targets: {
                    target: string;
                    /** @enum {string} */
                    wrote: "value" | "default" | "null" | "nothing";
                    /** @description Places that were written. */
                    count: number;
                    /** @description JSON Pointers into the output, at most 5. */
                    places: string[];
                    /** @description How many of several places got the default or null. */
                    defaults?: number;
                    /** @description Of the view mapping: what stands at these places in the end; long texts are cut. */
                    samples?: unknown[];
                }[];
            }[];
            entriesNotShown?: number;
            /** @description Paths of leaves of the message that nothing of the document reads. */
            unread?: {
                path: string;
                count: number;
            }[];
            unreadNotShown?: number;
            unreadUnknown?: string;
            /** @description Targets that were not written. */
            unwritten?: {
                path: string;
                target: string;
            }[];
            unwrittenNotShown?: number;
        };
        ValueFields: {
            fields: {
                /** @description As an entry can have it; `[]` stands for every element of an array. */
                path: string;
                types: ("object" | "array" | "string" | "number" | "boolean" | "null")[];
                /** @description How many values are there. */
                count: number;
                /** @description The first value that is no object, array or null; a long text is cut. */
                sample?: unknown;
            }[];
            /** @description There are more than 3,000 fields or 100,000 values, or names that make a path longer than 1,000 characters. */
            cut: boolean;
        };
        Coverage: {
            /** @description The parts of the document that a message can run. */
            total: number;
            missed: {
                /** @enum {string} */
                kind: "lookup" | "fallback" | "transform" | "entry" | "target" | "default" | "response";
                path: string;
            }[];
        };
        DryRunReport: {
            /** @description False if the document has faults; the report has nothing but lint then. */
            ran: boolean;
            lint: {
                errors: {
                    path: string;
                    message: string;
                }[];
                clashes: {
                    path: string;
                    message: string;
                }[];
                warnings: {
                    path: string;
                    message: string;
                }[];
            };
            /** @description What the recorded message did then. */
            recorded?: {
                messageId?: string;
                endpointId?: string;
                endpointVersion?: number;
                outcome?: string;
                status?: number;
                code?: string;
                /** @description Key of its group of failures, of a message that did not end done. */
                group?: string;
            };
            /** @description What the record of the message does not have; path is the part of the request that can have it. */
            notReproduced?: {
                path: string;
                reason: string;
            }[];
            /** @enum {string} */
            outcome?: "done" | "partial" | "refused" | "failed";
            ms?: number;
            stages?: components["schemas"]["DryRunStage"][];
            mapping?: components["schemas"]["MappingReport"];
            calls?: Record<string, never>[];
            callsNotShown?: number;
            answer?: {
                status?: number;
                headers?: Record<string, never>;
                body?: string;
                cut?: boolean;
                at?: string;
                assumed?: boolean;
            };
            failure?: {
                error?: string;
                code?: string;
                status?: number;
                stage?: string;
                path?: string;
                details?: {
                    path: string;
                    message: string;
                }[];
            };
            /** @description The first response request that did not succeed, where the answer is passed on or partial all the same. */
            refusal?: {
                error?: string;
                code?: string;
                status?: number;
                stage?: string;
                path?: string;
                details?: {
                    path: string;
                    message: string;
                }[];
            };
            /** @description What would be kept for the next message. */
            state?: unknown;
            coverage?: components["schemas"]["Coverage"];
            /** @description Of the view mapping: what the mapping could read, and what it made. */
            fields?: {
                source: components["schemas"]["ValueFields"];
                output?: components["schemas"]["ValueFields"];
            };
        };
        Counts: {
            count: number;
            /** @description Messages that did not end done. */
            failures: number;
            /** @description Milliseconds, at most 10 % off; null without any. */
            p50: number | null;
            /** @description Milliseconds, at most 10 % off; null without any. */
            p95: number | null;
            /** @description Milliseconds, at most 10 % off; null without any. */
            p99: number | null;
        };
        EndpointSummary: {
            id: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            method: string;
            pattern: string;
            output: string;
            version: number;
            active: boolean;
            faults: number;
            stats: {
                /** @description Messages of the last hour. */
                count: number;
                /** @description Those of them that did not end done. */
                failures: number;
                /** @description Messages a minute, of the last five whole minutes. */
                perMinute: number;
            };
            description?: string;
            input?: string;
            kafkaConsumerTopic?: string;
            /** Format: date-time */
            createdAt?: string;
            /** Format: date-time */
            updatedAt?: string;
            /**
             * @description Why there are faults; not there without any.
             * @enum {string}
             */
            reason?: "invalid" | "clash" | "pending" | "tolerated";
        };
        SummaryPage: {
            endpoints: components["schemas"]["EndpointSummary"][];
            total: number;
            next?: string;
        };
        EndpointFaults: {
            endpointId: string;
            active: boolean;
            faults: components["schemas"]["FailureDetail"][];
            version?: number;
            /**
             * @description Why there are faults; not there without any.
             * @enum {string}
             */
            reason?: "invalid" | "clash" | "pending" | "tolerated";
            error?: string;
        };
        Stats: {
            endpointId: string;
            hour: components["schemas"]["Counts"];
            day: components["schemas"]["Counts"];
            /** @description The minutes of the day in which messages ended, oldest first; `at` is when it started. */
            minutes: (components["schemas"]["Counts"] & {
                at: string;
            })[];
        };
        Version: {
            /** @description Counts the changes of the endpoint, from 1. */
            version: number;
            /** Format: date-time */
            at: string;
            /** @enum {unknown} */
            method: "create" | "replace" | "patch" | "restore" | "delete";
            origin: {
                address?: string;
                who?: string;
                name?: string;
                note?: string;
                /** @description The reason for a change although stored tests fail. */
                testsOverride?: string;
            };
            /** @description The version that was made active again. */
            restored?: number;
            /** @description In the answer for one version only; null for a deletion. */
            document?: unknown;
        };
        DocumentChange: {
            /** @enum {string} */
            kind: "added" | "removed" | "changed" | "moved";
            /** @description Place in the document; requests by their id: requests.lookup[patient].config.url. */
            path: string;
            /** @description The value before. */
            from?: unknown;
            /** @description The value afterwards. */
            to?: unknown;
            /** @description Where the order counts: the name or id before what was added or moved; null if it comes first. */
            after?: string | null;
        };
        DocumentDiff: {
            changes: components["schemas"]["DocumentChange"][];
        };
        VersionDiff: {
            from: components["schemas"]["Version"];
            to: components["schemas"]["Version"];
            changes: components["schemas"]["DocumentChange"][];
        };
        Drift: {
            endpointId: string;
            /** @description One of so many messages is sampled (DRIFT_SAMPLE); 0: none. */
            sample: number;
            /** @description Messages that were examined. */
            sampled: number;
            /** @description Those of them that were too large to be examined in whole. */
            cut: number;
            hours: {
                /**
                 * Format: date-time
                 * @description When the hour started.
                 */
                hour: string;
                sampled: number;
            }[];
            unread: {
                /** @description With [] for every element of an array, and * for all names of a place that has too many. */
                path: string;
                types: ("string" | "number" | "boolean" | "null" | "array" | "object")[];
                /** @description Sampled messages that carried it. */
                seen: number;
                hours: {
                    /**
                     * Format: date-time
                     * @description When the hour started.
                     */
                    hour: string;
                    seen: number;
                }[];
            }[];
            missing: {
                path: string;
                /** @description Places in the document. */
                readBy: string[];
                /**
                 * Format: date-time
                 * @description When a sampled message last carried it; absent for never.
                 */
                lastSeen?: string;
            }[];
            /** @description The active version, whose messages count; absent without one. */
            version?: number;
            /**
             * Format: date-time
             * @description When the first message of this version was sampled.
             */
            since?: string;
            /** @description Why no field is known to be unread. */
            unreadUnknown?: string;
            /**
             * @description There are more fields than are kept.
             * @constant
             */
            unreadCut?: true;
            missingNotShown?: number;
        };
        EndpointState: {
            requestBody?: Record<string, never>;
            responseBody?: Record<string, never>;
            query?: Record<string, never>;
            lookupRequests?: {
                [key: string]: Record<string, never>;
            };
            lookupHttpStatus?: number;
            lookupNetworkError?: boolean;
            system?: {
                timestamps?: {
                    /** Format: date-time */
                    endpointStart?: string;
                    /** Format: date-time */
                    endpointEnd?: string;
                    endpointDuration?: {
                        milliseconds?: number;
                    };
                    lookupRequests?: {
                        [key: string]: {
                            /** Format: date-time */
                            requestStart?: string;
                            /** Format: date-time */
                            requestEnd?: string;
                            requestDuration?: {
                                milliseconds?: number;
                            };
                        };
                    };
                };
            };
        };
        BatchOperation: {
            /** @enum {string} */
            op: "create" | "replace" | "delete";
            /** @description Of the endpoint to replace or delete. */
            id?: string;
            /** @description As the header If-Match of a single change. */
            ifMatch?: string;
            /** @description To create or replace. */
            document?: components["schemas"]["Endpoint"];
            /** @description What the next message reads under `state`. */
            state?: components["schemas"]["EndpointState"];
        };
        Batch: {
            operations: components["schemas"]["BatchOperation"][];
            /** @description Checks everything and stores nothing. */
            dryRun?: boolean;
            /** @description For the versions and the audit log; cut after 200 characters. */
            note?: string;
        };
        OperationResult: {
            /** @description The index of the operation in the batch. */
            operation: number;
            /** @enum {string} */
            op: "create" | "replace" | "delete";
            name: string;
            /** @description Of the endpoint after the change. */
            version: number;
            warnings: {
                path: string;
                message: string;
            }[];
            /** @description Not there for what a dry run would create. */
            id?: string;
            /** @description Of the stored document; not there after a deletion, and in a dry run. */
            etag?: string;
            /** @description In a dry run, the ETag of the document that would be replaced or deleted: for ifMatch of the change itself. */
            ifMatch?: string;
        };
        ListedMessage: {
            id: string;
            /** @enum {string} */
            source: "http" | "broker" | "replay";
            /** Format: date-time */
            startedAt: string;
            ms: number;
            /** @enum {string} */
            outcome: "done" | "partial" | "refused" | "failed";
            status: number;
            stages: {
                /** @enum {string} */
                stage: "recall" | "parse" | "lookup" | "validate" | "transform" | "map" | "extract" | "serialise" | "respond";
                ms: number;
            }[];
            keys: {
                [key: string]: string | string[];
            };
            bodies: {
                which: string;
                contentType: string;
                size: number;
                cut?: boolean;
                masked?: boolean;
                maskedFor?: ("credential" | "redact-paths" | "unreadable")[];
            }[];
            endpointId?: string;
            endpoint?: string;
            endpointVersion?: number;
            code?: string;
            stage?: string;
            path?: string;
            error?: string;
            triedAgain?: boolean;
            replayOf?: string;
            answerOf?: string;
            /** @description A capture of its endpoint recorded it, with all bodies. */
            captured?: boolean;
        };
        Message: {
            id: string;
            /** @enum {string} */
            source: "http" | "broker" | "replay";
            /** Format: date-time */
            startedAt: string;
            ms: number;
            /** @enum {string} */
            outcome: "done" | "partial" | "refused" | "failed";
            status: number;
            stages: {
                /** @enum {string} */
                stage: "recall" | "parse" | "lookup" | "validate" | "transform" | "map" | "extract" | "serialise" | "respond";
                ms: number;
            }[];
            keys: {
                [key: string]: string | string[];
            };
            bodies: {
                which: string;
                contentType: string;
                size: number;
                cut?: boolean;
                masked?: boolean;
                maskedFor?: ("credential" | "redact-paths" | "unreadable")[];
            }[];
            calls: {
                /** @enum {string} */
                kind: "lookup" | "response";
                id: string;
                method: string;
                target: string;
                startMs: number;
                ms: number;
                item?: number;
                status?: number;
                /** @description A note on an answer that was accepted, such as a body that cannot be read. */
                remark?: string;
                fault?: string;
            }[];
            replayable: {
                can: boolean;
                /** @description Why it cannot be replayed, for programs. */
                reason?: string;
                /** @description The same for people. */
                why?: string;
                /** @description Whether it can be replayed with another body. */
                withBody?: boolean;
                /** @description Another message: a replay of it, or of the one that it replays, that ended done. */
                alreadyDoneBy?: string;
            };
            endpointId?: string;
            endpoint?: string;
            endpointVersion?: number;
            code?: string;
            stage?: string;
            path?: string;
            error?: string;
            triedAgain?: boolean;
            replayOf?: string;
            answerOf?: string;
            /** @description A capture of its endpoint recorded it, with all bodies. */
            captured?: boolean;
            callsOmitted?: number;
            /** @description Key of its group of failures, of a message that did not end done. */
            group?: string;
        };
        FailureGroup: {
            key: string;
            count: number;
            /** Format: date-time */
            firstSeen: string;
            /** Format: date-time */
            lastSeen: string;
            sampleId: string;
            /** @description Messages of each of the last 60 minutes. */
            minutes: number[];
            /** @enum {string} */
            state: "open" | "acknowledged" | "ignored";
            endpointId?: string;
            endpoint?: string;
            stage?: string;
            code?: string;
            path?: string;
            note?: string;
            /** @description Who said it. */
            by?: string;
            /** Format: date-time */
            at?: string;
            /** @description Messages after `at`, of a group that is acknowledged or ignored. */
            since?: number;
        };
        Capture: {
            endpointId: string;
            /** @description Whether it records messages now. */
            isActive: boolean;
            messages: number;
            /** @description How many messages it may still record. */
            remaining: number;
            /** Format: date-time */
            until: string;
            /** Format: date-time */
            startedAt: string;
            /** @description Who started it. */
            by: string;
        };
        Consumer: {
            endpointId: string;
            endpoint: string;
            topic: string;
            groupId: string;
            /** @enum {string} */
            state: "connecting" | "running" | "waiting" | "stopped";
            /** @description Records that wait. */
            lag: number;
            /** @description Records that are started and not yet committed. */
            inFlight: number;
            /** @description Records that run. */
            underWay: number;
            /** @description Records that wait for their next attempt, or for a change of the endpoint. */
            retrying: number;
            /** @description Gaps of records that are not done, before the last record that is done. */
            holes: number;
            partitions: {
                partition: number;
                /** @enum {string} */
                state: "running" | "waiting" | "stopped";
                committed: number;
                end: number;
                lag: number;
                /** @description Records that run. */
                underWay: number;
                /** @description Records that wait for their next attempt, or for a change of the endpoint. */
                retrying: number;
                /** @description Gaps of records that are not done, before the last record that is done. */
                holes: number;
                /**
                 * Format: date-time
                 * @description When the oldest record that is not done was started.
                 */
                oldestAt?: string;
            }[];
            /**
             * Format: date-time
             * @description When the oldest record that is not done was started.
             */
            oldestAt?: string;
            lastError?: {
                message: string;
                /** Format: date-time */
                at: string;
            };
        };
        Totals: {
            /** @description Messages a minute, of the last five whole minutes. */
            perMinute: number;
            hour: components["schemas"]["Counts"];
            day: components["schemas"]["Counts"];
            minutes: (components["schemas"]["Counts"] & {
                /** Format: date-time */
                at: string;
            })[];
        };
        /** @description The data of the event `messages`. */
        MessagesEvent: {
            /** Format: date-time */
            at: string;
            ms: number;
            done: number;
            partial: number;
            refused: number;
            failed: number;
            endpoints: {
                endpoint?: string;
                endpointId?: string;
                done?: number;
                partial?: number;
                refused?: number;
                failed?: number;
            }[];
        };
        Replayed: {
            id?: string;
            replayOf?: string;
            /** @description An earlier replay of the message that ended done. */
            alreadyDoneBy?: string;
            /** @enum {string} */
            outcome?: "done" | "partial" | "refused" | "failed";
            code?: string;
            error?: string;
            status?: number;
            ms?: number;
            withoutHeadersAndQuery?: boolean;
            /** @description JSON as what it is, anything else as text. */
            answer?: unknown;
        };
        RunLimits: {
            /** @description Messages of this run. */
            max?: number;
            /**
             * @description Messages at once. 1 keeps their order.
             * @default 1
             */
            concurrency?: number;
            /** @description Messages started in a second. */
            perSecond?: number;
            /** @description Messages that are replayed first, one by one; the plan then waits to be continued. */
            canary?: number;
        };
        ReplayPlan: {
            id: string;
            /** @enum {string} */
            state: "planned" | "running" | "waiting" | "paused" | "finished" | "cancelled";
            /** Format: date-time */
            createdAt: string;
            filter: {
                [key: string]: unknown;
            };
            count: number;
            groups: {
                /** @enum {string} */
                outcome: "done" | "partial" | "refused" | "failed";
                count: number;
                endpointId?: string;
                endpoint?: string;
                code?: string;
                path?: string;
            }[];
            cannot: {
                reason: string;
                error: string;
                count: number;
                sampleId: string;
                /** @description At most 20. */
                ids: string[];
            }[];
            done: number;
            failed: number;
            skipped: number;
            skippedFor: {
                reason: string;
                error: string;
                count: number;
                sampleId: string;
                /** @description At most 20. */
                ids: string[];
            }[];
            left: number;
            /** @description The newest replays that did not end done, at most 20. */
            failures: {
                id: string;
                replayId: string;
                /** @enum {string} */
                outcome: "done" | "partial" | "refused" | "failed";
                code?: string;
            }[];
            limits?: components["schemas"]["RunLimits"];
            /** @description The first messages of the run, if it asked for them. */
            canaries?: {
                id: string;
                replayId: string;
                /** @enum {string} */
                outcome: "done" | "partial" | "refused" | "failed";
                code?: string;
            }[];
            stoppedBy?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
