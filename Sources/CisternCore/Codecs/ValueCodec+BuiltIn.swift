#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ValueCodec where Value: Codable {
  /// Returns the codec of a cache without an explicit codec. It depends only on the type of the values.
  ///
  /// Generic code, which knows only that the values are `Codable`, must use the same codec as code with the concrete
  /// type.
  @usableFromInline
  static func builtIn() -> ValueCodec<Value> {
    if let type = Value.self as? any BuiltInValue.Type { return codec(of: type) }
    if let type = Value.self as? any OptionalBuiltInValue.Type { return type.builtInCodec() as! ValueCodec<Value> }
    if let type = Value.self as? any FixedWidthFloatingPoint.Type { return codec(ofNumber: type) }
    if let type = Value.self as? any PossiblyNil.Type { return codec(ofOptional: type) }
    return ValueCodec(JSONCodec<Value>())
  }

  /// Returns the same codec for a type that is known to be optional.
  @usableFromInline
  static func builtIn<Wrapped: Codable & Sendable>(of type: Wrapped.Type) -> ValueCodec<Value> where Value == Wrapped? {
    if let type = Value.self as? any OptionalBuiltInValue.Type { return type.builtInCodec() as! ValueCodec<Value> }
    return ValueCodec(ofOptional: JSONCodec<Wrapped>())
  }

  // Each method is called with `Value` itself. The casts only prove this to the compiler.

  private static func codec<Known: BuiltInValue>(of type: Known.Type) -> ValueCodec<Value> {
    Known.builtInCodec() as! ValueCodec<Value>
  }

  private static func codec<Number: FixedWidthFloatingPoint>(ofNumber type: Number.Type) -> ValueCodec<Value> {
    ValueCodec<Number>(FloatingPointCodec<Number>()) as Any as! ValueCodec<Value>
  }

  /// The JSON of a non-nil optional is the JSON of its wrapped value.
  private static func codec<Possible: PossiblyNil>(ofOptional type: Possible.Type) -> ValueCodec<Value> {
    ValueCodec(
      JSONCodec<Value>(),
      absence: Absence(value: Possible.absent as! Value, isAbsent: { ($0 as! Possible).isAbsent }))
  }
}

/// A type with a built-in codec other than JSON.
private protocol BuiltInValue: Sendable {
  /// Returns a `ValueCodec<Self>`.
  static func builtInCodec() -> Any
  /// Returns a `ValueCodec<Self?>`.
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

/// The type `Optional` in a form that generic code can test for.
private protocol PossiblyNil: OptionalValue, SendableMetatype {}

extension Optional: PossiblyNil {}

/// An optional type whose wrapped type has a built-in codec.
private protocol OptionalBuiltInValue {
  static func builtInCodec() -> Any
}

extension Optional: OptionalBuiltInValue where Wrapped: BuiltInValue {
  fileprivate static func builtInCodec() -> Any { Wrapped.builtInOptionalCodec() }
}
