"""What every space begins with: 4 people, 12 posts, 30 comments, 3 media."""

from .store import Store

PEOPLE = [("Alice", 34, True), ("Bob", 27, False), ("Chloë", None, False), ("Dan", 27, False)]
WORDS = ["Arrays", "Bits", "Closures", "Dates", "Enums", "Floats", "Generics", "Hashes", "Inlining", "JSON", "Keys", "Lists"]
TAGS = [["swift"], ["swift", "json"], [], ["json:api"]]


def seeded():
    store = Store()
    for name, age, admin in PEOPLE:
        email = f"{name.lower()}@example.com" if name.isascii() else None
        store.add("people", attributes={"name": name, "email": email, "age": age, "admin": admin})
    for number, word in enumerate(WORDS, 1):
        post(store, number, word)
    for number in range(1, 31):
        comment = store.add("comments", attributes={"body": f"Comment {number}"})
        # Post 1 has 8, posts 2 to 11 two each, post 12 has one and the last comment belongs to none.
        owner = 1 if number <= 8 else (number - 9) // 2 + 2
        comment.linkage["post"] = ("posts", str(owner)) if number < 30 else None
        comment.linkage["author"] = ("people", str(number % 4 + 1)) if number % 7 else None
    for number, suffix in enumerate(("png", "mp4", "svg"), 1):
        details = {"width": 640, "height": 480.5, "formats": [suffix, None, {"lossless": True}]} if number == 1 else None
        media = store.add("media", attributes={"url": f"/files/{number}.{suffix}", "size": 1024.5 * number, "details": details})
        media.linkage["owner"] = ("people", "1") if number < 3 else None
    store.get("posts", "1").linkage["pinned"] = "comments", "3"
    store.get("posts", "2").linkage["pinned"] = "media", "1"
    store.get("people", "1").linkage["favorites"] = [("posts", "2"), ("media", "2")]
    return store


def post(store, number, word):
    """Every third has no author, every fourth is not published; two of them share each number of views."""
    attributes = {
        "title": f"About {word}",
        "body": None if number == 3 else f"All there is to say about {word.lower()}.",
        "published-at": None if number % 4 == 0 else f"2024-{number:02}-15T08:30:00Z",
        "tags": list(TAGS[number % 4]),
        "created-at": f"2024-{number:02}-01T12:00:00.5Z",
        "views": number // 2 * 10,
    }
    record = store.add("posts", attributes=attributes)
    record.linkage["author"] = None if number % 3 == 0 else ("people", str(number % 3))
