import FeathersCore
import Testing

@Suite("An error's wire form")
struct FeathersErrorWireTests {
    @Test("of each of the 17 classes reads back as the same class", arguments: FeathersError.Code.classes.map(\.code))
    func roundTrip(code: FeathersError.Code) {
        let sent = FeathersError(code, "message", data: ["n": 1], errors: ["email": "taken"])
        let read = FeathersError(wire: sent.wireForm)
        #expect(read.code == code)
        #expect(read.name == code.name)
        #expect(read.className == code.className)
        #expect(read.message == "message")
        #expect(read.data == ["n": 1])
        #expect(read.errors == ["email": "taken"])
    }

    @Test("is understood by the class's name alone", arguments: FeathersError.Code.classes.map(\.code))
    func nameAlone(code: FeathersError.Code) throws {
        let name = try #require(code.name)
        let error = FeathersError(wire: ["name": .string(name), "message": "m"])
        #expect(error.code == code)
        #expect(error.className == code.className)
    }

    @Test("is understood by the class's CSS-like name alone", arguments: FeathersError.Code.classes.map(\.code))
    func classNameAlone(code: FeathersError.Code) throws {
        let className = try #require(code.className)
        #expect(FeathersError(wire: ["className": .string(className)]).code == code)
    }

    @Test("keeps codes and classes nobody knows")
    func unknown() {
        let error = FeathersError(wire: [
            "name": "Teapot", "message": "short and stout", "code": 418, "className": "teapot",
        ])
        #expect(error.code == 418)
        #expect(error.name == "Teapot")
        #expect(error.className == "teapot")
        #expect(error.wireForm == ["name": "Teapot", "message": "short and stout", "code": 418, "className": "teapot"])
    }

    @Test("keeps an errors array, null and empty data as they are")
    func verbatim() {
        let list = FeathersError(wire: [
            "name": "BadRequest", "code": 400, "data": [:], "errors": [["keyword": "required"]],
        ])
        #expect(list.data == [:])
        #expect(list.errors == [["keyword": "required"]])
        #expect(FeathersError(wire: ["name": "BadRequest", "code": 400, "data": nil]).data == .null)
        #expect(FeathersError(wire: ["name": "BadRequest", "code": 400]).data == nil)
        #expect(FeathersError(wire: ["name": "BadRequest", "code": 400, "data": [1, 2]]).data == [1, 2])
    }

    @Test("of a plain error keeps its own properties as data")
    func plainError() {
        let error = FeathersError(wire: ["message": "boom", "code": "ENOPE", "detail": ["a": 1]])
        #expect(error.code == .generalError)
        #expect(error.name == "Error")
        #expect(error.className == "error")
        #expect(error.message == "boom")
        #expect(error.data == ["code": "ENOPE", "detail": ["a": 1]])
    }

    @Test("takes the status where the body names no class")
    func status() {
        let error = FeathersError(wire: ["message": "busy"], status: 503)
        #expect(error.code == .unavailable)
        #expect(error.name == "Unavailable")
        #expect(FeathersError(wire: ["name": "NotFound"], status: 500).code == .notFound)
        #expect(FeathersError(wire: ["code": 404.0], status: 500).code == .notFound)
    }

    @Test(
        "that is no object keeps what it is",
        arguments: [
            ("boom", "boom", nil), ("", "The server sent an error that is not an object", nil),
            (nil, "The server sent an error that is not an object", nil),
            ([1], "The server sent an error that is not an object", [1]),
        ] as [(JSONValue, String, JSONValue?)])
    func noObject(json: JSONValue, message: String, data: JSONValue?) {
        let error = FeathersError(wire: json)
        #expect(error.code == .generalError)
        #expect(error.message == message)
        #expect(error.data == data)
    }

    @Test("is caught by its code and by no other")
    func pattern() {
        func caught(_ error: any Error) -> String {
            do { throw error } catch FeathersError.Code.notFound { return "not found" } catch FeathersError.Code.gone {
                return "gone"
            } catch {
                return "other"
            }
        }
        #expect(caught(FeathersError(.notFound, "")) == "not found")
        #expect(caught(FeathersError(wire: ["name": "Gone", "code": 410])) == "gone")
        #expect(caught(FeathersError(.conflict, "")) == "other")
        #expect(caught(CancellationError()) == "other")
    }

    @Test("never shows data, errors or bodies in its description")
    func description() {
        var error = FeathersError(
            .conflict, "m", data: ["token": "secret"], errors: ["x": "secret"], execution: .mayHaveExecuted)
        error.response = FeathersError.Response(status: 409, body: Array("secret".utf8))
        #expect(error.description == "Conflict 409: m (may have been executed)")
    }
}
