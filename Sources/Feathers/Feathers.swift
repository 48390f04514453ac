// The umbrella module: one import for everything an app needs.
@_exported public import FeathersAuthentication
@_exported public import FeathersCaching
@_exported public import FeathersCore
@_exported public import FeathersJSON
@_exported public import FeathersNetworking
@_exported public import FeathersREST
@_exported public import FeathersSocketIO
@_exported public import FeathersSync
@_exported public import FeathersTraffic
