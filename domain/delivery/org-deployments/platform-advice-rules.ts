/** What people do about an error of the platform: the first pattern that its code and text match counts. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /was named in package\.xml, but was not found/i,
    'The commit lacks the file, or a path is ignored: check .forceignore and the packages of sfdx-project.json.',
  ],
  [
    /Average test coverage across all/i,
    'The whole org is below what production needs: add tests, or deploy with the tests of what changes (RunSpecifiedTests), which count by class.',
  ],
  [
    /Test coverage of selected Apex (Class|Trigger)/i,
    'Name more test classes in tests, or cover the class itself to 75 %; a trigger needs at least one covered line.',
  ],
  [/Code coverage|INSUFFICIENT_COVERAGE/i, 'Add tests for the code that is deployed.'],
  [
    /jobs? pending or in progress|has jobs pending/i,
    'A scheduled job uses the class: allow deployments with scheduled jobs in Deployment Settings, or stop the job first.',
  ],
  [/Invalid type:/i, 'The class or object that is named does not exist in the org: deploy it as well, or before.'],
  [/Variable does not exist/i, 'The field, variable or class is not in the org: deploy it as well, or check its name.'],
  [
    /Method does not exist or incorrect signature/i,
    'The method that is called is older or newer in the org: deploy its class as well.',
  ],
  [
    /Dependent class is invalid and needs recompilation/i,
    'Another class no longer compiles: its own error stands in Setup, Apex Classes, Compile all classes.',
  ],
  [
    /Entity is not org-accessible|is not accessible/i,
    'The feature is off, or the org has no licence for it: turn it on before, or leave the component out.',
  ],
  [
    /no (CustomField|CustomObject|ApexClass|Layout|RecordType|Flow|PermissionSet|Profile|\w+) named .* found/i,
    'A component that this one refers to is missing in the org: deploy it as well, or remove the reference.',
  ],
  [
    /In field: .* - no .* found/i,
    'What the field refers to is missing in the org: deploy it as well, or remove the reference.',
  ],
  [/Cannot find (folder|report|dashboard)/i, 'Deploy the folder before what is in it.'],
  [
    /Unknown user permission/i,
    'The permission belongs to a feature or licence that the org lacks: remove it from the profile or permission set.',
  ],
  [
    /Unable to find (default )?(record type|picklist)/i,
    'Deploy the record type or picklist value together with what uses it.',
  ],
  [
    /You cannot (deploy|modify|edit) .*(standard|managed)/i,
    'Managed and standard components are changed by their package or in Setup only: leave it out.',
  ],
  [
    /managed(-| )(installed|package)|INSTALLED_MANAGED/i,
    'The component belongs to an installed package: leave it out, or upgrade the package.',
  ],
  [
    /Picklist value .* (is )?(not found|does not exist)|bad value for restricted picklist/i,
    'Deploy the picklist with its values before what uses them.',
  ],
  [
    /Cannot (change|update) (the )?(field )?type|cannot be changed from/i,
    'The platform does not convert this type in place: make a new field and move the data.',
  ],
  [
    /referenced elsewhere|is in use|being used by|delete_failed|DEPENDENCY_EXISTS|is referenced by/i,
    'Something in the org still uses the component: remove that reference first, then delete.',
  ],
  [
    /Active flows? (can(no|')t|cannot) be (deleted|overwritten)|FLOW_.*ACTIVE|because it.s active/i,
    'Deactivate the flow in the org before it is deleted or replaced.',
  ],
  [
    /The flow .* (isn.t|is not) valid|flow (can.t|cannot) be (activated|saved)/i,
    'Open the flow in the Flow Builder of a sandbox: it names the element that is not valid there.',
  ],
  [
    /Duplicate (name|value|developer)|DUPLICATE_DEVELOPER_NAME|already in use/i,
    'The org has something else of this name: rename one of them.',
  ],
  [
    /Maximum (number|size|limit)|exceeded (the )?(maximum|limit)|TOO_MANY|STORAGE_LIMIT/i,
    'The org is at one of its limits: Setup, System Overview shows which.',
  ],
  [
    /INSUFFICIENT_ACCESS|Insufficient (access|privileges)|not allowed to|requires? the .* permission/i,
    "The org's user lacks a permission: it needs Modify Metadata Through Metadata API, and Author Apex for code.",
  ],
  [
    /INVALID_CROSS_REFERENCE_KEY|invalid cross reference id/i,
    'What an id refers to is not in this org: use names instead of ids, and deploy what is referred to.',
  ],
  [
    /ALREADY_IN_PROCESS|already been locked|background job is being executed/i,
    'An installation or another change of the setup holds the lock of the org: wait until it ends.',
  ],
  [
    /sharing (rule )?(recalculation|calculation)|recalculat/i,
    'The org recalculates its sharing: wait until Setup, Background Jobs shows its end.',
  ],
  [
    /UNABLE_TO_LOCK_ROW|unable to obtain exclusive access/i,
    'Two tests, or a test and people at work, changed the same row: let tests make data of their own, and run them at a quiet time.',
  ],
  [/maximum retry limit/i, 'The platform gave up after trying itself: try again, and at a quiet time.'],
  [
    /UNKNOWN_EXCEPTION|unexpected error|internal error|gack|\bError ?ID\b/i,
    'The platform failed itself: try again; with the same error twice, give its error id to the vendor.',
  ],
  [
    /REQUEST_RUNNING_TOO_LONG|timed? ?out|QUERY_TIMEOUT/i,
    'It took the platform too long: deploy less at once, or at a quiet time.',
  ],
  [
    /System\.LimitException|Too many (SOQL|DML|query)|CPU time limit|heap size/i,
    'The test breaks a governor limit: read the trace, and query or change in bulk.',
  ],
  [
    /System\.Assert(ion)?Exception|Assertion Failed/i,
    'The test expects something else than the code does in this org: compare both values.',
  ],
  [
    /System\.NullPointerException|Attempt to de-reference a null object/i,
    'The test meets a value that is missing: often data or a setting that this org lacks; let the test make it.',
  ],
  [/System\.QueryException.*no rows/i, 'The test reads data that this org lacks: let it make its own.'],
  [
    /FIELD_CUSTOM_VALIDATION_EXCEPTION/i,
    'A validation rule of the org refuses the data of the test: make data that passes it.',
  ],
  [/REQUIRED_FIELD_MISSING/i, 'The org requires a field that the test does not set.'],
  [
    /CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY/i,
    'A trigger or flow of the org failed on the data of the test: its own error stands behind it.',
  ],
  [/MIXED_DML_OPERATION/i, 'The test changes users and other records at once: put one of them into System.runAs.'],
  [/DUPLICATES_DETECTED/i, 'A duplicate rule of the org refuses the data of the test: make data that differs.'],
  [/System\.DmlException/i, 'The org refused data of the test: the text behind it names the field and rule.'],
  [
    /System\.CalloutException|callout/i,
    'The test calls the network: use a mock (Test.setMock), or name the endpoint in the org.',
  ],
  [
    /Error parsing file|Content is not allowed in prolog|must be followed by|XML/i,
    'The XML of the file is broken: open it in an editor that checks it.',
  ],
  [
    /Element .* (invalid|duplicated|unexpected) at this location|Property .* not valid in version/i,
    'The file has a member that this API version does not know: raise the version, or remove the member.',
  ],
  [/Unknown type name|Unknown type:|INVALID_TYPE/i, 'The org, or its API version, has no such type of metadata.'],
  [/Not in package\.xml/i, 'The archive has a file that its manifest does not name.'],
  [
    /Must specify a non-empty label|Required field is missing|is required/i,
    'The metadata lacks a member that the platform requires.',
  ],
  [
    /ConversionError|Missing (closing|opening)|Unexpected token|expecting|Unexpected syntax/i,
    'The code does not parse: the line is where the platform stopped reading.',
  ],
  [
    /LWC1\d{3}|Unable to (find|resolve) .*(module|component)|No MODULE named/i,
    'A Lightning component that this one imports is missing in the org, or does not compile: deploy it as well.',
  ],
  [/Static resource.*(size|limit)/i, 'A static resource is at most 5 MB, all of an org 250 MB.'],
  [/INVALID_SESSION_ID|session/i, 'The session of the org ended: the next attempt signs in anew.'],
  [/API_CURRENTLY_DISABLED|API_DISABLED_FOR_ORG/i, 'The org or its user has no API access.'],
  [
    /INVALID_OPERATION/i,
    'The org does not take this option: production neither deploys in part nor purges what is deleted.',
  ],
  [/LIMIT_EXCEEDED/i, 'Too much at once: deploy less, or later.'],
];

/** What people do about an error; null where nothing better is known than what the platform says. */
export const adviceFor = (text: string): string | null => ADVICE.find(([pattern]) => pattern.test(text))?.[1] ?? null;

const LOCKED =
  /ALREADY_IN_PROCESS|already been locked|background job is being executed|sharing (rule )?recalculation|UNABLE_TO_LOCK_ROW|unable to obtain exclusive access|maximum retry limit/i;

/** Whether the org was locked by something else, which passes by itself. */
export const isLockError = (text: string): boolean => LOCKED.test(text);
