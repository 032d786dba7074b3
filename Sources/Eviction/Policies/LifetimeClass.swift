/// The classes of entries that the policy distinguishes, by number of uses and by age. The widths of the classes
/// grow.
enum LifetimeClass {
  /// The number of classes of uses.
  static let useClasses = 10
  /// The number of classes of ages.
  static let ageClasses = 48
  /// The number of combinations of both.
  static let count = useClasses * ageClasses

  /// Returns the class of an entry with this number of uses.
  @inline(__always)
  static func ofUses(_ uses: UInt8) -> Int {
    // One hexadecimal digit for each number of uses below 16. The class is unpredictable, so branches would be
    // mispredicted.
    if uses < 16 { return Int((0x7666_6655_5443_2100 as UInt64) &>> (UInt64(uses) &* 4) & 15) }
    return 7 + (uses > 24 ? 1 : 0) + (uses > 48 ? 1 : 0)
  }

  /// Returns the index of the class of uses and the class of ages, among all combinations.
  @inline(__always)
  static func index(uses: UInt8, age: UInt32) -> Int { ofUses(uses) &* ageClasses &+ ofAge(age) }

  /// Returns a number of uses near the middle of a class.
  static func typicalUses(_ useClass: Int) -> Float {
    switch useClass {
    case ..<4: Float(useClass + 1)
    case 4: 5.5
    case 5: 8
    case 6: 12
    case 7: 20
    case 8: 36
    default: 80
    }
  }

  /// Returns the class of an age. Each doubling of the age has two classes.
  @inline(__always)
  static func ofAge(_ age: UInt32) -> Int {
    guard age >= 4 else { return Int(age) }
    // The exponent and the highest mantissa bit of the floating-point number. The conversion is exact for all ages
    // below the last class.
    return min(Int(Float(Int(age)).bitPattern &>> 22) &- 254, ageClasses &- 1)
  }

  /// Returns the least age of a class.
  static func start(ofAge ageClass: Int) -> Float {
    guard ageClass >= 4 else { return Float(ageClass) }
    let power = Float(UInt32(1) << UInt32(ageClass / 2))
    return ageClass.isMultiple(of: 2) ? power : 1.5 * power
  }

  /// The width and the start of each class of ages. They are tables, because each computation of densities reads
  /// them many times.
  static let widths = (0..<ageClasses).map { width(ofAge: $0) }
  static let starts = (0..<ageClasses).map { start(ofAge: $0) }

  /// Returns the number of ages in a class.
  static func width(ofAge ageClass: Int) -> Float { start(ofAge: ageClass + 1) - start(ofAge: ageClass) }
}
