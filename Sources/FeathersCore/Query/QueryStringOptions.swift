/// How a query is written into a URL, and what the server's parser is known to read.
///
/// FeathersJS servers read query strings with `qs`, which mangles what goes beyond its limits without a word. So the
/// limits are checked before anything is sent. The defaults are those of a current Express; nil lifts a limit.
public struct QueryStringOptions: Sendable, Hashable {
    /// How arrays of plain values are written.
    public enum ArrayFormat: Sendable, Hashable {
        /// `n[$in][0]=1&n[$in][1]=2`: what Feathers' own client writes.
        case indices
        /// `n[$in][]=1&n[$in][]=2`: older servers read such arrays at any length. Arrays of objects keep their
        /// indices, since servers merge `$or[][a]` and `$or[][b]` into one object.
        case brackets
    }

    /// How arrays of plain values are written; ``ArrayFormat/indices`` unless set.
    public var arrayFormat: ArrayFormat

    /// How many elements an array with indices may have: 1000 unless set.
    ///
    /// Servers with an older Express or `qs` turn arrays of more than 20 elements into objects, so that `$in` matches
    /// nothing there: set 20, which makes longer ones an error, or use ``ArrayFormat/brackets``.
    public var arrayLimit: Int?

    /// How many levels a property may have below its first: 5 unless set, `qs`' own depth.
    ///
    /// Array indices count: `$or[0][address][city]` has three.
    public var depthLimit: Int?

    /// How many `key=value` pairs there may be: 1000 unless set. `qs` ignores the ones after.
    public var pairLimit: Int?

    /// Options; the parameters are the properties of the same names. Unless said otherwise they are what `qs` in FeathersJS reads.
    public init(arrayFormat: ArrayFormat = .indices, arrayLimit: Int? = 1000, depthLimit: Int? = 5, pairLimit: Int? = 1000) {
        self.arrayFormat = arrayFormat
        self.arrayLimit = arrayLimit
        self.depthLimit = depthLimit
        self.pairLimit = pairLimit
    }
}
