import Foundation
import StressKit

StandardDescriptors.occupyClosed()
StandardDescriptors.survivePipesWithoutReaders()
exit(await CisternProgram.run(ProcessArguments.bytes))
