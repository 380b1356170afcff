import type { Json } from '../../support/client.ts';
import type { Endpoint, HostRequest, Reply } from '../host-server.ts';
import { type Process, PROCESSES, type ProcessName } from './azure-processes.ts';
import { parseWiql } from './wiql.ts';

interface Identity {
  displayName: string;
  uniqueName: string;
}

export interface SimulatedWorkItem {
  id: number;
  rev: number;
  /** `organization/project` */
  place: string;
  /** By reference name; identities are objects. */
  fields: Record<string, Json>;
  parent: number | null;
  comments: { id: number; text: string; createdBy?: ReturnType<typeof shownIdentity> }[];
}

const PEOPLE: readonly Identity[] = [
  { displayName: 'Dana Döring', uniqueName: 'dana@example.com' },
  { displayName: "Ole O'Hara", uniqueName: 'ole@example.com' },
  { displayName: 'quayside-bot', uniqueName: 'quayside-bot@example.com' },
];
const IDENTITY_FIELDS = new Set(['System.AssignedTo', 'System.CreatedBy', 'System.ChangedBy']);
const BATCH_MAX = 200;
const TITLE_MAX = 255;

/** Work items of Azure Boards, api-version 7.1. */
export class AzureBoards {
  readonly all: SimulatedWorkItem[] = [];
  process: ProcessName = 'agile';
  /** Somebody changes a work item between the read and the write of the next so many changes. */
  racingChanges = 0;
  #comments = 0;

  add(place: string, fields: Record<string, Json> = {}, given: Partial<SimulatedWorkItem> = {}): SimulatedWorkItem {
    const type = fields['System.WorkItemType'] ?? 'Task';
    const at = new Date(Date.UTC(2026, 0, 1) + this.all.length * 60_000).toISOString();
    const item: SimulatedWorkItem = {
      id: this.all.length + 1,
      rev: 1,
      place,
      fields: {
        'System.Title': 'A work item',
        'System.WorkItemType': type,
        'System.State': this.#statesOf(type)[0]?.name,
        'System.TeamProject': place.split('/')[1],
        'System.AreaPath': place.split('/')[1],
        'System.CreatedDate': at,
        'System.ChangedDate': at,
        'System.CreatedBy': shownIdentity(PEOPLE[0]),
        ...fields,
      },
      parent: null,
      comments: [],
      ...given,
    };
    this.all.push(item);
    return item;
  }

  find = (id: number): SimulatedWorkItem | undefined => this.all.find((each) => each.id === id);

  #statesOf = (type: string) => (PROCESSES[this.process] as Process)[type] ?? [];

  endpoints(url: string): Endpoint[] {
    const at = (rest: string) => new RegExp(String.raw`^/([^/]+/[^/]+)/_apis/wit/${rest}$`, 'i');
    const one = (handle: (item: SimulatedWorkItem, request: HostRequest, match: RegExpExecArray) => Reply) =>
      ((request, match) => {
        const item = this.find(Number(match[2]));
        return item?.place === decodeURIComponent(match[1] ?? '')
          ? handle(item, request, match)
          : refuse(404, `TF401232: Work item ${match[2]} does not exist, or you do not have permissions to read it.`);
      }) satisfies Endpoint['handle'];
    return [
      {
        method: 'GET',
        path: /^\/[^/]+\/_apis\/connectionData$/,
        handle: ({ caller }) => ({ status: 200, body: { authenticatedUser: identityOf(caller) } }),
      },
      {
        method: 'GET',
        path: at(String.raw`workitems/(\d+)`),
        handle: one((item) => ({ status: 200, body: shownItem(url, item, this.all) })),
      },
      {
        method: 'PATCH',
        path: at(String.raw`workitems/(\d+)`),
        handle: one((item, request) => this.#change(url, item, request)),
      },
      {
        method: 'POST',
        path: at(String.raw`workitems/(?:\$|%24)([^/]+)`),
        handle: (request, [, place = '', type = '']) =>
          this.#create(url, { place: decodeURIComponent(place), type: decodeURIComponent(type) }, request),
      },
      {
        method: 'POST',
        path: at('wiql'),
        handle: (request, [, place = '']) => this.#query(decodeURIComponent(place), request),
      },
      { method: 'POST', path: at('workitemsbatch'), handle: ({ body }) => this.#batch(url, body) },
      {
        method: 'GET',
        path: at('workitemtypes'),
        handle: () => ({
          status: 200,
          body: {
            value: Object.entries(PROCESSES[this.process]).map(([name, states]) => ({ name, states })),
          },
        }),
      },
      {
        method: 'GET',
        path: at(String.raw`workitemtypes/([^/]+)/states`),
        handle: (_, [, , type = '']) => {
          const value = this.#statesOf(decodeURIComponent(type));
          return value.length === 0
            ? refuse(404, `VS402323: Work item type ${decodeURIComponent(type)} does not exist.`)
            : { status: 200, body: { count: value.length, value } };
        },
      },
      {
        method: 'GET',
        path: at(String.raw`workItems/(\d+)/comments`),
        handle: one(({ comments }, { query }) => {
          const start = Number(query.get('continuationToken') ?? 0);
          const end = start + Number(query.get('$top') ?? 200);
          const ordered = query.get('order') === 'desc' ? comments.toReversed() : comments;
          return {
            status: 200,
            body: {
              totalCount: comments.length,
              comments: ordered.slice(start, end),
              ...(end < comments.length && { continuationToken: String(end) }),
            },
          };
        }),
      },
      {
        method: 'POST',
        path: at(String.raw`workItems/(\d+)/comments`),
        handle: one((item, { body, caller }) => {
          if (typeof body.text !== 'string' || body.text === '') return refuse(400, 'Comment text cannot be empty.');
          const comment = { id: ++this.#comments, text: body.text, createdBy: identityOf(caller) };
          item.comments.push(comment);
          // Comments are part of the work item's history.
          item.rev++;
          return { status: 200, body: { ...comment, workItemId: item.id, version: 1 } };
        }),
      },
      {
        method: 'PATCH',
        path: at(String.raw`workItems/(\d+)/comments/(\d+)`),
        handle: one(({ comments }, { body, caller }, [, , , id]) => {
          const comment = comments.find((each) => each.id === Number(id));
          if (!comment) return refuse(404, 'Comment does not exist.');
          if (comment.createdBy?.id !== identityOf(caller).id)
            return refuse(403, 'You can edit your own comments only.');
          if (typeof body.text !== 'string') return refuse(400, 'Comment text cannot be empty.');
          comment.text = body.text;
          return { status: 200, body: comment };
        }),
      },
    ];
  }

  #create(url: string, { place, type }: { place: string; type: string }, request: HostRequest): Reply {
    const states = this.#statesOf(type);
    if (states.length === 0) return refuse(404, `VS402323: Work item type ${type} does not exist in project ${place}.`);
    const at = new Date().toISOString();
    const author = identityOf(request.caller);
    const made: SimulatedWorkItem = {
      id: this.all.length + 1,
      rev: 1,
      place,
      fields: {
        'System.WorkItemType': type,
        'System.State': states[0]?.name,
        'System.TeamProject': place.split('/')[1],
        'System.AreaPath': place.split('/')[1],
        'System.CreatedDate': at,
        'System.ChangedDate': at,
        'System.CreatedBy': author,
      },
      parent: null,
      comments: [],
    };
    const refusal = this.#apply(made, request);
    if (refusal) return refusal;
    if (made.fields['System.State'] !== states[0]?.name) return wrongState(made.fields['System.State']);
    if (made.fields['System.Title'] === undefined)
      return refuse(400, 'TF401320: Rule Error for field Title. Error code: Required, InvalidEmpty.');
    this.all.push(made);
    return { status: 200, body: shownItem(url, made, this.all) };
  }

  #change(url: string, item: SimulatedWorkItem, request: HostRequest): Reply {
    if (this.racingChanges > 0) {
      this.racingChanges--;
      item.rev++;
    }
    const draft = structuredClone(item);
    const refusal = this.#apply(draft, request);
    if (refusal) return refusal;
    Object.assign(item, draft, { rev: item.rev + 1 });
    item.fields['System.ChangedDate'] = new Date().toISOString();
    return { status: 200, body: shownItem(url, item, this.all) };
  }

  /** Applies a JSON patch (RFC 6902) as far as Azure takes it; a refusal leaves nothing to be used. */
  #apply(item: SimulatedWorkItem, { headers, body }: HostRequest): Reply | undefined {
    if (headers['content-type'] !== 'application/json-patch+json')
      return refuse(415, 'The content type is not supported.');
    if (!Array.isArray(body)) return refuse(400, 'You must pass a valid patch document in the body of the request.');
    for (const { op, path, value } of body) {
      if (op === 'test' && path === '/rev') {
        if (value !== item.rev) return refuse(412, 'VS403208: The revision of the work item does not match.');
        continue;
      }
      const [, field] = /^\/fields\/([\w.]+)$/.exec(path) ?? [];
      if (!['add', 'replace'].includes(op) || field === undefined)
        return refuse(400, `The patch operation ${op} ${path} is not supported.`);
      if (op === 'replace' && item.fields[field] === undefined)
        return refuse(400, `The field ${field} has no value to replace.`);
      const refusal = this.#set(item, { op, field, value });
      if (refusal) return refusal;
    }
    return undefined;
  }

  #set(
    { fields, comments }: SimulatedWorkItem,
    { op, field, value }: { op: string; field: string; value: Json },
  ): Reply | undefined {
    if (IDENTITY_FIELDS.has(field)) {
      const found = PEOPLE.find((each) => [each.displayName, each.uniqueName].includes(value));
      if (!found && value !== '')
        return refuse(400, `The identity value '${value}' for field 'Assigned To' is an unknown identity.`);
      if (found) fields[field] = shownIdentity(found);
      else delete fields[field];
      return undefined;
    }
    if (field === 'System.State' && !this.#statesOf(fields['System.WorkItemType']).some(({ name }) => name === value))
      return wrongState(value);
    if (field === 'System.Title' && (typeof value !== 'string' || value === '' || value.length > TITLE_MAX))
      return refuse(400, 'TF401320: Rule Error for field Title. Error code: InvalidEmpty, InvalidTooLong.');
    if (field === 'System.Tags') {
      // `add` adds tags to those that there are.
      const old = op === 'add' ? tagsOf(fields[field]) : [];
      const tags = [...new Set([...old, ...tagsOf(value)])];
      if (tags.some((tag) => tag.length > 400)) return refuse(400, 'TF401401: The tag name is invalid.');
      fields[field] = tags.join('; ');
      return undefined;
    }
    if (field === 'System.History') {
      comments.push({ id: ++this.#comments, text: value });
      return undefined;
    }
    fields[field] = value;
    return undefined;
  }

  #query(place: string, { query, body, caller }: HostRequest): Reply {
    const [, project = ''] = place.split('/');
    try {
      const me = PEOPLE.find(({ displayName }) => displayName === caller)?.uniqueName ?? caller;
      const { matches } = parseWiql(String(body.query), { '@project': project, '@me': me });
      const found = this.all
        .filter((item) => item.place === place && (matches(compared(item)) || matches(compared(item, 'displayName'))))
        .toSorted((a, b) => (a.fields['System.ChangedDate'] < b.fields['System.ChangedDate'] ? 1 : -1));
      const top = Number(query.get('$top') ?? 20_000);
      return { status: 200, body: { workItems: found.slice(0, top).map(({ id }) => ({ id })) } };
    } catch (error) {
      return refuse(400, (error as Error).message);
    }
  }

  #batch(url: string, { ids, fields }: Json): Reply {
    if (!Array.isArray(ids) || ids.length === 0 || ids.length > BATCH_MAX)
      return refuse(400, 'VS403474: Invalid number of ids.');
    const items = ids.map((id: number) => this.find(id));
    if (items.includes(undefined)) return refuse(404, 'TF401232: A work item does not exist.');
    return {
      status: 200,
      body: {
        count: items.length,
        value: items.map((item) => {
          const shown = shownItem(url, item as SimulatedWorkItem, this.all);
          const asked = Object.entries(shown.fields).filter(([name]) => fields === undefined || fields.includes(name));
          return { id: shown.id, rev: shown.rev, fields: Object.fromEntries(asked), url: shown.url };
        }),
      },
    };
  }
}

const refuse = (status: number, message: string): Reply => ({
  status,
  body: { $id: '1', innerException: null, message, typeKey: 'RuleValidationException', errorCode: 0, eventId: 3000 },
});

const wrongState = (value: Json): Reply =>
  refuse(400, `The field 'State' contains the value '${value}' that is not in the list of supported values`);

const tagsOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(';')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

const identityOf = (caller: string) =>
  shownIdentity(PEOPLE.find(({ displayName }) => displayName === caller) ?? PEOPLE[0]);

const shownIdentity = (identity: Identity | undefined) => ({
  ...identity,
  id: `id-of-${identity?.uniqueName}`,
  imageUrl: `https://avatars.example/${identity?.uniqueName}`,
  descriptor: 'aad.xyz',
});

/** Identities are compared by address or by name. */
const compared = ({ fields }: SimulatedWorkItem, name: keyof Identity = 'uniqueName') =>
  Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, IDENTITY_FIELDS.has(field) ? value?.[name] : value]),
  );

const shownItem = (
  url: string,
  { id, rev, place, fields, parent }: SimulatedWorkItem,
  all: readonly SimulatedWorkItem[],
) => ({
  id,
  rev,
  fields,
  relations: [
    ...(parent === null
      ? []
      : [
          {
            rel: 'System.LinkTypes.Hierarchy-Reverse',
            url: `${url}/${place}/_apis/wit/workItems/${parent}`,
            attributes: { name: 'Parent' },
          },
        ]),
    ...all
      .filter((each) => each.parent === id)
      .map((child) => ({
        rel: 'System.LinkTypes.Hierarchy-Forward',
        url: `${url}/${place}/_apis/wit/workItems/${child.id}`,
      })),
  ],
  _links: { html: { href: `https://dev.azure.com/${place}/_workitems/edit/${id}` } },
  url: `${url}/${place}/_apis/wit/workItems/${id}`,
});
