/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxDrawPicture: draws a database with tools/crux-plot.py.
 *
 * Place: helper (C++17). Starts a program; knows nothing of what is drawn.
 */
#ifndef CRUX_PICTURE_H
#define CRUX_PICTURE_H

#include "ns3/crux-base.h"

#include <ostream>
#include <string>

namespace ns3
{

/**
 * Can a picture be written? Checked before anything runs; nothing is left behind. Not the database
 * itself, no link, device, pipe or folder, and an existing file only when it is a PNG or empty.
 * \param database path; empty: there will be no picture
 * \param picture path; empty: the database's with .png; "none": no picture
 * \param error one line with the path when it cannot
 * \return CRUX_OK or CRUX_IO
 */
crux_status CruxCheckPicture(const std::string& database,
                             const std::string& picture,
                             crux_error* error);

/**
 * Draw a database as a PNG beside it and say where both are. Without Python or matplotlib it says
 * so in one line; the results are in the database all the same. \param os where to report \param
 * database path; empty: nothing is done \param picture path; empty: the database's with .png;
 * "none": no picture \param script of tools that draws it \return exit code for main: 0, also when
 * the picture could not be drawn for want of matplotlib; non-zero when the picture was asked for by
 * name and could not be drawn
 */
int CruxDrawPicture(std::ostream& os,
                    const std::string& database,
                    const std::string& picture,
                    const std::string& script = "crux-plot.py");

} // namespace ns3

#endif /* CRUX_PICTURE_H */
