/* ProcessPrng of bcryptprimitives.dll, which every Rust program for Windows needs to start.
 *
 * Wine has it since version 8.13, and Debian 12 has 8.0. Where Wine has it, this stands in its place.
 */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length)
{
    return length <= MAXDWORD && RtlGenRandom(bytes, (ULONG)length);
}
