/// A number of bytes, named by its unit: `.mebibytes(64)`.
public struct ByteCount: Sendable, Hashable, Comparable {
  /// The count, in bytes.
  public let bytes: Int

  /// Creates a count of single bytes.
  public init(bytes: Int) {
    self.bytes = bytes
  }

  /// A count of single bytes.
  public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: count) }

  /// A count of kibibytes, 1,024 bytes each; the largest count that fits where the product does not.
  public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count, unit: 1 << 10) }

  /// A count of mebibytes, 1,024 kibibytes each; the largest count that fits where the product does not.
  public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count, unit: 1 << 20) }

  /// A count of gibibytes, 1,024 mebibytes each; the largest count that fits where the product does not.
  public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count, unit: 1 << 30) }

  /// Orders by the number of bytes.
  public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

  private init(_ count: Int, unit: Int) {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    bytes = overflow ? (count < 0 ? .min : .max) : product
  }
}

extension ByteCount: CustomStringConvertible {
  /// The count in the largest binary unit that it reaches, with at most one decimal: "1.5 MiB".
  public var description: String {
    let units: [(name: String, size: Int)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    guard let unit = units.first(where: { bytes.magnitude >= $0.size.magnitude }) else { return "\(bytes) B" }
    let tenths = (Double(bytes) / Double(unit.size) * 10).rounded() / 10
    return tenths == tenths.rounded() ? "\(Int(tenths)) \(unit.name)" : "\(tenths) \(unit.name)"
  }
}
