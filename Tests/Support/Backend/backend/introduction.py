"""What the server says to people: where it is, what it serves, and who can sign in."""

PASSWORD = "p4ssw0rd"
# Alice is known to tests as well, see users.py. The others are there for whoever tries the examples with somebody else.
GUESTS = {"bob@example.com": "Bob", "carol@example.com": "Carol"}
ACCOUNTS = ("alice@example.com", *GUESTS)

JSON = "-H 'Content-Type: application/json' -d"
SIGN_IN = f'{{"strategy":"local","email":"{ACCOUNTS[0]}","password":"{PASSWORD}"}}'

# What each service is for, and a call to it. The URL takes the place of `URL`.
SERVICES = {
    "messages": ("messages, in pages of 10", f"""URL/messages {JSON} '{{"text":"Hello"}}'"""),
    "todos": ("records without pages, here a job", f"""URL/todos {JSON} '{{"queue":"mail","text":"Hi","state":"open"}}'"""),
    "single": ("records that are changed one by one", "URL/single"),
    "cards": ("records that refuse outdated changes", "'URL/cards?$limit=5'"),
    "channels": ("the rooms of the messages", "URL/channels"),
    "people": ("those who add the cards", f"""URL/people {JSON} '{{"id":"ada","name":"Ada"}}'"""),
    "users": ("accounts, without their passwords", "URL/users"),
    "secured": ("needs a sign-in: -H 'Authorization: Bearer ACCESSTOKEN'", "URL/secured"),
    "slow": ("waits as many milliseconds as the id says", "URL/slow/500"),
    "errors": ("fails with the error of that name", "URL/errors/NotFound"),
    "big": ("returns as many bytes as the id says", "URL/big/100"),
    "echo": ("returns the call", "'URL/echo/7?text=Hello'"),
    "teams/:teamId/members": ("has a placeholder in its path", "URL/teams/red/members"),
    "httpmeta": ("sets the status and the header fields of responses", "URL/httpmeta/headers -i"),
    "authentication": ("signs in; the result has an accessToken", f"URL/authentication {JSON} '{SIGN_IN}'"),
    "refresh-tokens": ("renews tokens, with REFRESH_TOKENS=1", f"""URL/refresh-tokens {JSON} '{{"refreshToken":"…"}}'"""),
}

# For tests, and for clients of FeathersJS 6.
UNMENTIONED = {"control", "streams", "uploads"}

EXAMPLES = (
    "Quickstart --url URL",
    "Chat URL lobby alice@example.com",
    "Notes URL notes-data add Milk",
    "Board URL board-data team Ada",
    "EventStream URL 8080 messages",
    "JobWorker URL todos mail",
)


def add_guests(users):
    for email, name in GUESTS.items():
        users.add(email, PASSWORD, name=name)


def text(url, services):
    accounts = "\n".join(f"  {email:<18}  {PASSWORD}" for email in ACCOUNTS)
    calls = []
    for name in services:
        if name not in UNMENTIONED:
            purpose, call = SERVICES[name]
            calls.append(f"  {name}: {purpose}\n    curl {call.replace('URL', url)}")
    calls = "\n".join(calls)
    examples = "\n".join(f"  swift run {example.replace('URL', url)}" for example in EXAMPLES)
    return f"""\
The development server of feathers-swift is at {url}

It behaves like FeathersJS 5, over REST and Socket.IO,
and below {url}/v6 like FeathersJS 6.
Everything is in memory: when the server stops, it is gone.
Open {url} in a browser to watch calls and events.

Accounts and their passwords
{accounts}

Services, each with a call to try
{calls}

Examples, for a second terminal
{examples}

Press Ctrl-C to stop."""
