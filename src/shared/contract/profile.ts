import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { dataOf, RowId } from './site.ts';
import { Handle, OneLine, StrictObject, Timestamp } from './vocabulary.ts';

const members = {
  avatar: Type.String({ description: 'The URL of an image; empty for none.' }),
  createdAt: Timestamp,
  email: Type.String({ description: 'Empty until set.' }),
  id: RowId,
  name: Type.String(),
  updatedAt: Timestamp,
};

/** The calling user. */
export const Profile = Type.Object(members, { $id: 'Profile' });

const ChatThread = Type.Object({ id: Type.String(), title: Type.String(), updatedAt: Timestamp });

const access = { apiKey: 'workspace', login: 'any', token: 'profile' } as const;
const Email = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
  description: 'An address such as `ann@example.org`; unique on this host, case-insensitive.',
});

export const getProfile = endpoint({
  id: 'getProfile',
  method: 'GET',
  path: '/api/settings/profile',
  summary: 'Show your profile.',
  description: 'With an API key: the profile of its owner.',
  tag: 'Profile',
  access,
  result: dataOf(Profile),
});

export const updateProfile = endpoint({
  id: 'updateProfile',
  method: 'PATCH',
  path: '/api/settings/profile',
  summary: 'Update your profile.',
  description: 'Omitted members are unchanged.',
  tag: 'Profile',
  access,
  body: Type.Object(
    {
      name: Type.Optional(OneLine({ maxLength: 255, description: 'Your display name.' })),
      email: Type.Optional(Email),
      avatar: Type.Optional(
        Type.String({
          maxLength: 2048,
          pattern: '^(https?://[^\\s\\u0000-\\u001f\\u007f]+)?$',
          description: 'The http or https URL of an image; empty for none.',
        }),
      ),
      handle: Type.Optional(Handle(64)),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  result: dataOf(Profile),
});

export const deleteProfile = endpoint({
  id: 'deleteProfile',
  method: 'DELETE',
  path: '/api/settings/profile',
  summary: 'Delete your account on this host.',
  description:
    'Ends your logins, tokens and memberships and deletes your shouts. Your keys are revoked or pass to the owner of their workspace without the scopes `keys`, `billing` and `workspace`. Whispers you sent remain with their recipients, from a deleted user. Not possible for the daemon’s owner, or for the last owner of a workspace with other members.',
  tag: 'Profile',
  access,
  body: StrictObject({
    email: Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'Your email address, as confirmation.',
    }),
  }),
  result: dataOf(Type.Object({ deleted: Type.Literal(true) })),
});

export const getMe = endpoint({
  id: 'getMe',
  method: 'GET',
  path: '/api/me',
  summary: 'Get the calling user.',
  description: 'Your profile with your handle, and your latest chats.',
  tag: 'Profile',
  access,
  query: Type.Object({
    chat_limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Number of chats; default 50, at most 200.',
      }),
    ),
  }),
  result: dataOf(
    Type.Object({
      user: Type.Object({ ...members, handle: Type.String() }),
      chatThreads: Type.Array(ChatThread),
    }),
  ),
});

export type Profile = Static<typeof Profile>;
export type ChatThread = Static<typeof ChatThread>;
