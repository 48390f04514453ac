// expect: Declare the conformance of the value's type to QueryValue, and unwrap an optional
// article: TypedQueries.md
import Feathers

// fix: enum Color: String, Codable, QueryValue { case red }
enum Color: String, Codable { case red }

let reds = Query.where("color", Color.red)
