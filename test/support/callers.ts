/** What each kind of caller gets: a status, and for failures also type and code. */
export interface Row {
  anonymous: string;
  /** Any invalid credential: all of them get the same answer. */
  wrong: string;
  /** A key of the workspace that lacks the scope, or one without scopes if none is required. */
  keyWithoutScope: string;
  keyWithScope: string;
  login: string;
  /** Logins of other members of the workspace; by default as `login`, which is its owner's. */
  admin?: string;
  member?: string;
  /** A key with all scopes, and a login, of another workspace, that ask for ids of this one. */
  strangerKey: string;
  strangerLogin: string;
  /** An agent of this host, which asks for ids that are not its own. */
  agent: string;
  /** Access tokens of the owner with all abilities and without the required one; 401 by default. */
  token?: string;
  tokenWithout?: string;
}

export const ok = '200';
export const notFound = '404 not_found not_found';
export const notAnAgent = '404 not_found not_an_agent';
export const conflict = '409 conflict conflict';
export const forbidden = '403 permission permission';
export const signedOut = '401 authentication signed_out';
export const unauthenticated = '401 authentication unauthenticated';

export const forEveryone: Row = {
  anonymous: ok,
  wrong: unauthenticated,
  keyWithoutScope: ok,
  keyWithScope: ok,
  login: ok,
  strangerKey: ok,
  strangerLogin: ok,
  agent: ok,
  token: ok,
  tokenWithout: ok,
};
/** What everyone may ask for, and is not there. */
export const nothingThere: Row = {
  anonymous: notFound,
  wrong: unauthenticated,
  keyWithoutScope: notFound,
  keyWithScope: notFound,
  login: notFound,
  strangerKey: notFound,
  strangerLogin: notFound,
  agent: notFound,
  token: notFound,
  tokenWithout: notFound,
};
/** A model call that needs no credential. */
export const openModelCall: Row = { ...forEveryone, wrong: '401 unauthorized unauthenticated' };
export const noTokens = { token: unauthenticated, tokenWithout: unauthenticated };
export const identified: Row = { ...forEveryone, ...noTokens, anonymous: unauthenticated };
export const scoped: Row = { ...identified, keyWithoutScope: '403 permission out_of_scope' };
export const ofAdmins = { member: forbidden };
export const modelCall: Row = {
  ...scoped,
  anonymous: '401 unauthorized unauthenticated',
  wrong: '401 unauthorized unauthenticated',
  token: '401 unauthorized unauthenticated',
  tokenWithout: '401 unauthorized unauthenticated',
};
/** By a plain `GET`: an allowed caller learns that it is a socket. Handshakes are tested elsewhere. */
export const onlySocket = '400 invalid_request invalid_request';
export const socket: Row = {
  ...modelCall,
  keyWithScope: onlySocket,
  login: onlySocket,
  strangerKey: onlySocket,
  strangerLogin: onlySocket,
  agent: onlySocket,
};
export const ownThing = { strangerKey: notFound, strangerLogin: notFound, agent: notFound };
export const notForAgents = { agent: forbidden };
export const ownWorkspace = { strangerKey: forbidden, strangerLogin: forbidden, ...notForAgents };
export const loginOnly: Row = {
  anonymous: signedOut,
  wrong: unauthenticated,
  keyWithoutScope: signedOut,
  keyWithScope: signedOut,
  login: ok,
  admin: forbidden,
  member: forbidden,
  strangerKey: signedOut,
  strangerLogin: forbidden,
  agent: signedOut,
  token: signedOut,
  tokenWithout: signedOut,
};
export const anyLogin: Row = { ...loginOnly, admin: ok, member: ok, strangerLogin: ok };
export const ofWorkspace: Row = { ...anyLogin, strangerLogin: notFound };
export const anonymousOnly: Row = {
  ...forEveryone,
  keyWithoutScope: forbidden,
  keyWithScope: forbidden,
  login: forbidden,
  strangerKey: forbidden,
  strangerLogin: forbidden,
  ...notForAgents,
  ...noTokens,
};

export const siteSignedOut = '401 Unauthenticated.';
export const siteForbidden = '403 This action is unauthorized.';
export const siteNotFound = '404 Not found.';
export const siteInvalid = '422 The given data was invalid.';
/** What people do on the site API. */
export const site: Row = {
  anonymous: siteSignedOut,
  wrong: siteSignedOut,
  keyWithoutScope: siteForbidden,
  keyWithScope: ok,
  login: ok,
  strangerKey: ok,
  strangerLogin: ok,
  agent: siteForbidden,
  token: ok,
  tokenWithout: siteForbidden,
};
/** A thing of a workspace. */
export const ofSite: Row = { ...site, strangerKey: siteNotFound, strangerLogin: siteNotFound };
export const siteForEveryone: Row = { ...forEveryone, wrong: siteSignedOut };
export const ofOthers = { strangerKey: siteNotFound, strangerLogin: siteNotFound };
export const ownTokens: Row = { ...site, keyWithScope: siteForbidden, strangerKey: siteForbidden };

export const ofKeyOwner: Row = loginOnly;
