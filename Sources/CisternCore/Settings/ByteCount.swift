/// A number of bytes in a named unit, such as `.mebibytes(64)`.
public struct ByteCount: Sendable, Hashable, Comparable {
  /// The number of bytes.
  public let bytes: Int

  /// Creates a count of bytes.
  public init(bytes: Int) {
    self.bytes = bytes
  }

  /// Returns a count of bytes.
  public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: count) }

  /// Returns a count of kibibytes, which have 1,024 bytes. The result is the nearest valid count if the product
  /// overflows.
  public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count, unit: 1 << 10) }

  /// Returns a count of mebibytes, which have 1,024 kibibytes. The result is the nearest valid count if the product
  /// overflows.
  public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count, unit: 1 << 20) }

  /// Returns a count of gibibytes, which have 1,024 mebibytes. The result is the nearest valid count if the product
  /// overflows.
  public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count, unit: 1 << 30) }

  /// Returns whether the first count has fewer bytes than the second.
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
