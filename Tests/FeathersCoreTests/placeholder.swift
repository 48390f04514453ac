import Testing
@testable import FeathersCore
