// The HTTP API as the page uses it: JSON, the session's CSRF token, one error class that says what a person can do.

const TIMEOUT_MS = 20_000;

export class ApiError extends Error {
  constructor(status, type, message, fields = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.type = type;
    this.fields = fields;
  }

  /** Nothing was answered: the network or the server is away. */
  get unreachable() {
    return this.status === 0;
  }
}

export class Api extends EventTarget {
  #csrf;
  #ended = false;

  /** `csrf` is the token that came with the page; a newer one is taken from its cookie. */
  constructor(csrf) {
    super();
    this.#csrf = csrf;
  }

  /** Sends nothing any more: the login of this page is over, and another one in this browser may be somebody else's. */
  end() {
    this.#ended = true;
  }

  get(path, query = {}) {
    const each = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
    const given = each.filter(([, value]) => value !== undefined && value !== null && value !== "");
    const search = given.length ? `?${new URLSearchParams(given)}` : "";
    return this.#call("GET", path + search);
  }

  post(path, body = {}) {
    return this.#call("POST", path, body);
  }

  put(path, body = {}) {
    return this.#call("PUT", path, body);
  }

  patch(path, body) {
    return this.#call("PATCH", path, body);
  }

  delete(path) {
    return this.#call("DELETE", path);
  }

  async #call(method, path, body) {
    if (this.#ended) throw new ApiError(401, "unauthenticated", "You are signed out.");
    const headers = { Accept: "application/json" };
    if (method !== "GET") headers["X-CSRFToken"] = cookie("csrftoken") ?? this.#csrf;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let response;
    let answer = null;
    try {
      response = await fetch(`/v1${path}`, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: "same-origin",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.status !== 204) answer = await response.json();
    } catch (error) {
      if (!response || error.name === "TimeoutError") throw new ApiError(0, "unreachable", "The server cannot be reached.");
      throw new ApiError(response.status, "internal", "The server's answer could not be read.");
    }
    if (response.ok) return answer;
    if (response.status === 401) this.dispatchEvent(new Event("signed-out"));
    const problem = answer?.error ?? {};
    throw new ApiError(response.status, problem.type ?? "internal", problem.message ?? "The request was refused.", problem.fields);
  }
}

function cookie(name) {
  const found = document.cookie.split("; ").find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}
