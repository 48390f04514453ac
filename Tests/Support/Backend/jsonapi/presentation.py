"""Records as resource objects in documents, with links, linkage and what is included."""


class Presenter:
    def __init__(self, store, links, settings, query):
        self.store = store
        self.links = links
        self.settings = settings
        self.query = query
        self.followed = set()  # (record's key, relationship) on an include path: its linkage is shown.

    def document(self, primary, records):
        """A document whose data `primary` makes of the records, once it is known what is included."""
        found = {}
        self.follow(records, self.query.include or {}, found)
        shown = {record.key for record in records}
        return self.compound(primary, [record for record in found.values() if record.key not in shown])

    def linkage_document(self, primary, records, name):
        """The same for a relationship: its identifiers can have the resources themselves included."""
        tree = self.query.include or {}
        records = records if name in tree else []
        found = {record.key: record for record in records}
        self.follow(records, tree.get(name, {}), found)
        return self.compound(primary, found.values())

    def compound(self, primary, included):
        document = {"data": primary()}
        if self.query.include is not None:
            document["included"] = [self.resource(record) for record in included]
        return document

    def follow(self, records, tree, found):
        for record in records:
            for name, branch in tree.items():
                if name in record.schema.relationships:
                    self.followed.add((record.key, name))
                    related = self.store.related(record, name)
                    found.update((one.key, one) for one in related)
                    self.follow(related, branch, found)

    def resource(self, record, cursor=None):
        wanted = self.query.fields.get(record.type)
        attributes = {name: value for name, value in record.attributes.items() if wanted is None or name in wanted}
        names = [name for name in record.schema.relationships if wanted is None or name in wanted]
        relationships = {name: self.relationship(record, name) for name in names}
        page = {"page": {"cursor": cursor}} if cursor else {}
        return {
            **identifier(record.key),
            **({"attributes": attributes} if attributes else {}),
            **({"relationships": relationships} if relationships else {}),
            **self.links.object({"self": self.links.link(*record.key, title=f"{record.type} {record.id}")}),
            "meta": {"revision": record.revision, **page},
        }

    def relationship(self, record, name):
        linkage = self.store.linkage(record, name)
        is_many = isinstance(linkage, list)
        made = self.relationship_links(record, name)
        if not is_many or self.settings["linkage"] == "always" or (record.key, name) in self.followed or not made:
            made = {**made, "data": linkage_data(linkage)}
        return {**made, "meta": {"count": len(linkage)}} if is_many else made

    def relationship_links(self, record, name):
        title = f"{name} of {record.type} {record.id}"
        own = self.links.link(*record.key, "relationships", name)
        related = self.links.link(*record.key, name, title=title, meta={"relationship": name})
        return self.links.object({"self": own, "related": related})


def identifier(key):
    return {"type": key[0], "id": key[1]}


def linkage_data(linkage):
    if isinstance(linkage, list):
        return [identifier(key) for key in linkage]
    return linkage and identifier(linkage)
