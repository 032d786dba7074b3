#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ValueCodec where Value: Codable {
  /// The codec of a cache that is given none. It depends on the type of the values alone: generic code, which only knows
  /// that they are `Codable`, has the same one as code that names the type.
  @usableFromInline
  static func builtIn() -> ValueCodec<Value> {
    if let type = Value.self as? any BuiltInValue.Type { return codec(of: type) }
    if let type = Value.self as? any OptionalBuiltInValue.Type { return type.builtInCodec() as! ValueCodec<Value> }
    if let type = Value.self as? any FixedWidthFloatingPoint.Type { return codec(ofNumber: type) }
    if let type = Value.self as? any PossiblyNil.Type { return codec(ofOptional: type) }
    return ValueCodec(JSONCodec<Value>())
  }

  /// The same for a type that is known to be optional.
  @usableFromInline
  static func builtIn<Wrapped: Codable & Sendable>(of type: Wrapped.Type) -> ValueCodec<Value> where Value == Wrapped? {
    if let type = Value.self as? any OptionalBuiltInValue.Type { return type.builtInCodec() as! ValueCodec<Value> }
    return ValueCodec(ofOptional: JSONCodec<Wrapped>())
  }

  // Each is called with `Value` itself, which the casts only tell the compiler.

  private static func codec<Known: BuiltInValue>(of type: Known.Type) -> ValueCodec<Value> {
    Known.builtInCodec() as! ValueCodec<Value>
  }

  private static func codec<Number: FixedWidthFloatingPoint>(ofNumber type: Number.Type) -> ValueCodec<Value> {
    ValueCodec<Number>(FloatingPointCodec<Number>()) as Any as! ValueCodec<Value>
  }

  /// The JSON of an optional value that is there is the JSON of what it wraps.
  private static func codec<Possible: PossiblyNil>(ofOptional type: Possible.Type) -> ValueCodec<Value> {
    ValueCodec(
      JSONCodec<Value>(),
      absence: Absence(value: Possible.absent as! Value, isAbsent: { ($0 as! Possible).isAbsent }))
  }
}

/// A type whose values a cache stores otherwise than as JSON if it is given no codec.
private protocol BuiltInValue: Sendable {
  /// A `ValueCodec<Self>`.
  static func builtInCodec() -> Any
  /// A `ValueCodec<Self?>`.
  static func builtInOptionalCodec() -> Any
}

extension BuiltInValue {
  fileprivate static func any(_ codec: some Codec<Self>) -> Any { ValueCodec<Self>(codec) }
  fileprivate static func optional(_ codec: some Codec<Self>) -> Any { ValueCodec<Self?>(ofOptional: codec) }
}

extension BuiltInValue where Self: FixedWidthInteger & BitwiseCopyable {
  fileprivate static func builtInCodec() -> Any { any(FixedWidthCodec<Self>()) }
  fileprivate static func builtInOptionalCodec() -> Any { optional(FixedWidthCodec<Self>()) }
}

extension BuiltInValue where Self: FixedWidthFloatingPoint {
  fileprivate static func builtInCodec() -> Any { any(FloatingPointCodec<Self>()) }
  fileprivate static func builtInOptionalCodec() -> Any { optional(FloatingPointCodec<Self>()) }
}

extension Int: BuiltInValue {}
extension Int8: BuiltInValue {}
extension Int16: BuiltInValue {}
extension Int32: BuiltInValue {}
extension Int64: BuiltInValue {}
extension Int128: BuiltInValue {}
extension UInt: BuiltInValue {}
extension UInt8: BuiltInValue {}
extension UInt16: BuiltInValue {}
extension UInt32: BuiltInValue {}
extension UInt64: BuiltInValue {}
extension UInt128: BuiltInValue {}
extension Double: BuiltInValue {}
extension Float: BuiltInValue {}

extension Array: BuiltInValue where Element == UInt8 {
  fileprivate static func builtInCodec() -> Any { any(BytesCodec()) }
  fileprivate static func builtInOptionalCodec() -> Any { optional(BytesCodec()) }
}

extension String: BuiltInValue {
  fileprivate static func builtInCodec() -> Any { any(StringCodec()) }
  fileprivate static func builtInOptionalCodec() -> Any { optional(StringCodec()) }
}

extension Data: BuiltInValue {
  fileprivate static func builtInCodec() -> Any { any(DataCodec()) }
  fileprivate static func builtInOptionalCodec() -> Any { optional(DataCodec()) }
}

/// `Optional`, as generic code can find it.
private protocol PossiblyNil: OptionalValue, SendableMetatype {}

extension Optional: PossiblyNil {}

/// An optional type that wraps such a type.
private protocol OptionalBuiltInValue {
  static func builtInCodec() -> Any
}

extension Optional: OptionalBuiltInValue where Wrapped: BuiltInValue {
  fileprivate static func builtInCodec() -> Any { Wrapped.builtInOptionalCodec() }
}
