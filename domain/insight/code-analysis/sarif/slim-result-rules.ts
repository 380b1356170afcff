import { RULE_ID_MAX } from '../rule-lookup-rules.ts';
import { URI_MAX } from './sarif-path-rules.ts';
import {
  type ArtifactLocation,
  type DescriptorReference,
  MESSAGE_MAX,
  type SarifResult,
  TEMPLATE_MAX,
} from './sarif-rules.ts';

/** Arguments of a message that are kept. */
const ARGUMENTS_MAX = 100;
const HASH_MAX = 200;

/** The beginning of a text, without the rest, which a mere slice of it would keep in memory. */
const cut = (text: string, max: number): string =>
  text.length <= max ? text : Buffer.from(text.slice(0, max), 'utf16le').toString('utf16le');

/** An undefined member counts as none; leaving it out would give each result a shape of its own. */
const given = <T extends object>(members: { [Key in keyof T]: T[Key] | undefined }): T => members as T;

const slimReference = ({ id, index, guid, toolComponent }: DescriptorReference): DescriptorReference =>
  given<DescriptorReference>({
    id: id && cut(id, RULE_ID_MAX),
    index,
    guid,
    toolComponent:
      toolComponent &&
      given<NonNullable<DescriptorReference['toolComponent']>>({
        name: toolComponent.name,
        index: toolComponent.index,
        guid: toolComponent.guid,
      }),
  });

/** One character too many shows that a URI is too long. */
const slimLocation = ({ uri, uriBaseId, index }: ArtifactLocation): ArtifactLocation =>
  given<ArtifactLocation>({
    uri: uri && cut(uri, URI_MAX + 1),
    uriBaseId: uriBaseId && cut(uriBaseId, URI_MAX + 1),
    index,
  });

/** A message with those arguments alone that a text of at most `MESSAGE_MAX` characters can show. */
function slimMessage({ text, markdown, id, arguments: filled }: SarifResult['message']): SarifResult['message'] {
  const template = text ?? markdown;
  return given<SarifResult['message']>({
    text: template === undefined ? undefined : cut(template, TEMPLATE_MAX),
    id: template === undefined && id !== undefined ? cut(id, RULE_ID_MAX) : undefined,
    arguments: filled?.slice(0, ARGUMENTS_MAX).map((each) => cut(each, MESSAGE_MAX)),
  });
}

/** What of a result is used: as little memory as that takes. */
export function slimResult(
  { ruleId, ruleIndex, rule, kind, level, message, locations, suppressions, baselineState, ...result }: SarifResult,
  { keepsMessages }: { keepsMessages: boolean },
): SarifResult {
  const place = locations?.[0]?.physicalLocation;
  const hash = result.partialFingerprints?.primaryLocationLineHash;
  const startLine = place?.region?.startLine;
  const invocationIndex = result.provenance?.invocationIndex;
  // One stands for all: a result is suppressed when every one is accepted.
  const decisive = suppressions?.find(({ status = 'accepted' }) => status !== 'accepted') ?? suppressions?.[0];
  return given<SarifResult>({
    message: keepsMessages ? slimMessage(message) : {},
    ruleId: ruleId && cut(ruleId, RULE_ID_MAX),
    ruleIndex,
    rule: rule && slimReference(rule),
    kind,
    level,
    locations: place && [
      {
        physicalLocation: given<NonNullable<typeof place>>({
          artifactLocation: place.artifactLocation && slimLocation(place.artifactLocation),
          region: startLine === undefined ? undefined : { startLine },
        }),
      },
    ],
    suppressions: decisive && [given<{ status?: string }>({ status: decisive.status })],
    baselineState,
    partialFingerprints: hash === undefined ? undefined : { primaryLocationLineHash: cut(hash, HASH_MAX) },
    provenance: invocationIndex === undefined ? undefined : { invocationIndex },
  });
}
