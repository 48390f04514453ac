// expect: A JSON:API model has coding keys, which know relationships
// article: ModelsFromYourServer.md
import Feathers
import FeathersJSONAPI

// fix: struct Post: JSONAPIModel {
struct Post: JSONAPIModel, PropertyCodable {
    static let type = "posts"
    var id: String?
    var title: String

    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
        ["id": \.id, "title": \.title]
    }

    func encode(to encoder: any Encoder) throws {}
}
