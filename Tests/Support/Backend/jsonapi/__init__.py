"""A JSON:API 1.1 server with Atomic Operations and the cursor pagination profile.

Written from the specification, since no Python library has all of 1.1. What a client MUST
NOT send is refused, members the specification does not know included, where other
servers have to be lenient: a test is to hear of it.

Everything lives in spaces, each with records of its own, so that tests do not disturb each
other: a base URL is `http://127.0.0.1:PORT/SPACE` with a name of the test's own choice.
A space comes into being seeded when it is first asked for. `POST /__spaces/SPACE` with
a JSON object of settings, see settings.py, resets it; `{}` gives the usual ones.

    /                                  GET: a document of nothing but meta
    /posts /people /comments /media    GET, POST
    /posts/1                           GET, PATCH, DELETE
    /posts/1/author                    GET
    /posts/1/relationships/author      GET, PATCH; to-many ones POST and DELETE too
    /operations                        POST, extension https://jsonapi.org/ext/atomic required
    /jobs/1                            GET: what a 202 is about
    /messages /todos                   as /posts, their attributes are free and compared as texts
    /echo /echo/1 /slow/200 /errors/NotFound /httpmeta/null /teams/1/members   see services.py

    include=comments.author  fields[posts]=title  sort=-published-at,author.name
    filter[title]=a,b        equal to any of them; `null` is null; arrays: any element
    filter[views][gt]=5      eq ne gt gte lt lte in nin; filter[author]=2 filter[author.name]=Bob
                             of /posts/1 it lets the record through or hides it, from changes too
    page[number] page[size] · page[offset] page[limit] · page[size] page[after] page[before]
    delayMs=200              the answer waits that long

An Accept header that asks for the cursor profile gets pages by cursor; `page[size]` alone else means numbers.
Types and their fields: schema.py. Records: seed.py.
"""
